package hold

import (
	"bytes"
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
