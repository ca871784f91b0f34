package znode

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
)

// revokeMark is what Apache Curator writes into a holder's znode to ask it to give way,
// in place of whatever was there.
const revokeMark = "__REVOKE__"

// RevocationRequested reports whether data asks the holder to give way.
func RevocationRequested(data []byte) bool { return bytes.HasSuffix(data, []byte(revokeMark)) }

// Unmarked returns data as it was before the holder was asked to give way, as far as it
// can still be told.
func Unmarked(data []byte) []byte {
	if rest, ok := bytes.CutSuffix(data, []byte(revokeMark)); ok {
		return bytes.TrimSuffix(rest, []byte("\n"))
	}
	return data
}

// MarkRevocation returns the data that asks the holder of a node to give way, and
// whether that is a change. Holders of our own know themselves by their data, which is
// kept; so is the id of a participant in an election, whoever made it. Holders of
// Curator expect theirs not to be.
func MarkRevocation(node string, data []byte) (marked []byte, change bool) {
	if RevocationRequested(data) {
		return data, false
	}
	_, latch := Parse(path.Base(node), Latch)
	if keep := latch || json.Valid(data); !keep || len(data) == 0 {
		return []byte(revokeMark), true
	}
	return slices.Concat(data, []byte("\n"+revokeMark)), true
}
