package znode

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
)

// revokeMark is what Apache Curator writes into a holder's znode to ask it to give
// way, in place of whatever was there.
const revokeMark = "__REVOKE__"

// Revoked reports whether data asks the holder to give way.
func Revoked(data []byte) bool { return bytes.HasSuffix(data, []byte(revokeMark)) }

// Unmarked returns data as it was before the holder was asked to give way, as far
// as it can still be told.
func Unmarked(data []byte) []byte {
	if rest, ok := bytes.CutSuffix(data, []byte(revokeMark)); ok {
		return bytes.TrimSuffix(rest, []byte("\n"))
	}
	return data
}

// Mark returns data that asks the holder to give way. What the holder says about
// itself is kept if keep is set; holders of Curator expect it not to be.
func Mark(data []byte, keep bool) []byte {
	if Revoked(data) {
		return data
	}
	if !keep || len(data) == 0 {
		return []byte(revokeMark)
	}
	return slices.Concat(data, []byte("\n"+revokeMark))
}

// MarkRevoked returns the data that asks the holder of a node to give way, and
// whether that is a change. Holders of our own know themselves by their data, which
// is kept; so is the id of a participant in an election, whoever made it.
func MarkRevoked(node string, data []byte) (marked []byte, change bool) {
	if Revoked(data) {
		return data, false
	}
	_, latch := Parse(path.Base(node), Latch)
	return Mark(data, latch || json.Valid(data)), true
}
