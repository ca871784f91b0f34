// Package archtest holds the rules of this house as ordinary tests, so that breaking
// one fails in "go test" with the file, the line, the rule and the way out. The rules
// are about what the compiler does not see: which package may import which, what may
// appear in the exported API, what must be documented, how large and how named a file
// may be, how long functions and how wide comments.
//
// Each rule is a function from a parsed module to a list of violations. Its own test
// feeds it small sources that break the rule, because a check that cannot fail is worth
// nothing.
package archtest
