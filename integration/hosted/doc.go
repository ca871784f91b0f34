// Package hosted has tests of what only the hosted CI reads: its workflows, the list of
// modules of Dependabot, and the forms of issues. They cannot be run here. So what can be
// checked is: whether they name what exists, and keep our rules. Syntax, expressions and
// shell commands are left to actionlint, which .ci/workflows runs. What the forms name and
// link to is checked with the pages, by internal/proof/doctest.
//
// Each check is a function from files to problems. Its test plants mistakes as well.
package hosted
