// Package doctest checks the Markdown of this repository against its code, in ordinary
// tests, also that in the forms of issues: links and their anchors, Go blocks, names of
// the API, metrics, tests, make targets, files, variables, and the width of lines. What
// the command has is checked beside it, in cmd/zkrecipes: flags, verbs, exit codes. A
// mistake fails with the page, the line, what is wrong and what to do.
//
// Go blocks are compiled by the module whose packages they are about: those of the root
// module here, those of a nested module in a test of that module, which calls
// [GoBlocks]. CONTRIBUTING.md says how blocks are written.
//
// Each check is a function from pages to a list of problems and the number of places
// that it looked at. Its own test plants mistakes in small pages, to see that it can
// fail. The number must not be small for the real pages, so that a check which finds
// nothing any more does not pass in silence.
package doctest
