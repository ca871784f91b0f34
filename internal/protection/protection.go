// Package protection reads and makes the names of nodes whose creator can find them
// again: "_c_", a UUID in its usual form, "-", and the name asked for. It is the form
// that Apache Curator writes and recognizes.
package protection

import (
	"fmt"
	"io"
	"strings"
)

const prefix = "_c_"

// An ID marks the nodes of one protected create, of which only one ever counts.
type ID string

// New returns a random UUID of version 4.
func New(random io.Reader) (ID, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("random id: %w", err)
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return ID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])), nil
}

// Name returns the name of a node that is marked with the id.
func (id ID) Name(name string) string { return prefix + string(id) + "-" + name }

// Marks reports whether a node of that name was made under this id.
func (id ID) Marks(name string) bool {
	rest, protected := strings.CutPrefix(name, prefix)
	rest, mine := strings.CutPrefix(rest, string(id))
	return protected && mine && strings.HasPrefix(rest, "-")
}

// Of returns the id in a node's name, if it has one.
func Of(name string) (ID, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	const length = 36
	if !ok || len(rest) <= length || rest[length] != '-' {
		return "", false
	}
	for i, r := range rest[:length] {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (r == '-') || (!hyphen && !strings.ContainsRune("0123456789abcdefABCDEF", r)) {
			return "", false
		}
	}
	return ID(rest[:length]), true
}
