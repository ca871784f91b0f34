// Package recipepath checks the path of a recipe: that it is valid, that no other
// recipe uses it, and that credentials, if there are any, protect it.
package recipepath
