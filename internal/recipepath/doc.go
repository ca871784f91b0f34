// Package recipepath is what is asked of a path before a recipe has it: that the path
// can be one, that no other recipe is using it, and that credentials, where there are
// any, keep strangers out.
package recipepath
