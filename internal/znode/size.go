package znode

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// sizeBytes is the length of a stored size.
const sizeBytes = 4

// Size is what the path of a semaphore of n permits stores: a big-endian 32-bit number,
// as Curator's SharedCount has it.
func Size(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) } //nolint:gosec // the caller has checked it

// ParseSize is the inverse of Size. A negative size, which only other programs write,
// is 0. Four bytes that are text, such as "0010", are no size: as a number they are
// greater than 150 million.
func ParseSize(data []byte) (n int, ok bool) {
	if len(data) != sizeBytes || isText(data) {
		return 0, false
	}
	return int(max(int32(binary.BigEndian.Uint32(data)), 0)), true //nolint:gosec // the sign is meant
}

func isText(data []byte) bool {
	return utf8.Valid(data) && !bytes.ContainsFunc(data, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) })
}
