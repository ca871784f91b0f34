// Package protection reads and makes the names of nodes whose creator can find them
// again: "_c_", a UUID in its usual form, "-", and the name asked for. It is the form
// that Apache Curator writes and recognizes. Its UUIDs have version 4, which is random;
// ours have version 8, which RFC 9562 leaves to who makes them, and are as random.
package protection

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

const prefix = "_c_"

// idLength is that of a UUID as text.
const idLength = 36

// Before is how much a marked node's name has before the name that was asked for.
const Before = len(prefix) + idLength + len("-")

// An ID marks the nodes of one protected create, of which only one ever counts.
type ID [idLength]byte

// version is the digit of a UUID that says how it was made, and versionAt its index.
const (
	version   = '8'
	versionAt = 14
)

// New returns a random UUID of version 8.
func New(random io.Reader) (id ID, err error) {
	b, err := read(random)
	if err != nil {
		return id, fmt.Errorf("random id: %w", err)
	}
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	text := hex.AppendEncode(id[:0], b[:4])
	for _, part := range [][]byte{b[4:6], b[6:8], b[8:10], b[10:]} {
		text = hex.AppendEncode(append(text, '-'), part)
	}
	return id, nil
}

// Path returns the path of a node that is marked with the id: dir ends with a slash.
func (id ID) Path(dir, name string) string { return dir + prefix + string(id[:]) + "-" + name }

// read reads the random bytes of an id. Those of crypto/rand cost no allocation.
func read(random io.Reader) (b [16]byte, err error) {
	if random == rand.Reader {
		_, err = rand.Read(b[:])
		return b, err
	}
	return slowRead(random)
}

func slowRead(random io.Reader) (b [16]byte, err error) {
	_, err = io.ReadFull(random, b[:])
	return b, err
}

// Name returns the name of a node that is marked with the id.
func (id ID) Name(name string) string { return id.Path("", name) }

// Marks reports whether a node of that name was made under this id.
func (id ID) Marks(name string) bool {
	rest, protected := strings.CutPrefix(name, prefix)
	rest, mine := strings.CutPrefix(rest, string(id[:]))
	return protected && mine && strings.HasPrefix(rest, "-")
}

// Of returns the id in a node's name, if it has one.
func Of(name string) (ID, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || len(rest) <= idLength || rest[idLength] != '-' {
		return ID{}, false
	}
	for i, r := range rest[:idLength] {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (r == '-') || (!hyphen && !strings.ContainsRune("0123456789abcdefABCDEF", r)) {
			return ID{}, false
		}
	}
	return ID([]byte(rest[:idLength])), true
}

// Cut returns the part of a node's name in which the id would be, "" if there is none.
func Cut(name string) string {
	const end = len(prefix) + 36
	if len(name) <= end || name[end] != '-' || name[:len(prefix)] != prefix {
		return ""
	}
	return name[len(prefix):end]
}

// IsOurs reports whether a client of this module made a node of that name: no other
// known client of ZooKeeper writes such a UUID.
func IsOurs(name string) bool {
	id, ok := Of(name)
	return ok && id[versionAt] == version
}
