// Package archtest checks the rules of this code base as ordinary tests. A breach fails
// in "go test" with the file, the line, the rule and the way to fix it. The rules are
// about what the compiler does not check: which package may import which, what may
// appear in the exported API, what must be documented, the sizes and names of files,
// the length of functions and the width of comments.
//
// Each rule is a function from a parsed module to a list of violations. Its own test
// gives it small sources that break the rule, to see that the check can fail.
package archtest
