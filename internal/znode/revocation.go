package znode

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
)

// revokeMark is what Apache Curator writes into a holder's znode to request revocation,
// in place of the data.
const revokeMark = "__REVOKE__"

// RevocationRequested reports whether data requests revocation.
func RevocationRequested(data []byte) bool { return bytes.HasSuffix(data, []byte(revokeMark)) }

// Unmarked returns the data from before requests for revocation and to step back, as
// far as it is still known.
func Unmarked(data []byte) []byte {
	data, _ = cutMark(data, revokeMark)
	data, _ = cutMark(data, stepBackMark)
	return data
}

// MarkRevocation returns the data that requests revocation from the holder of a node,
// and whether that is a change. It keeps the data of our own holders, and the id of a
// contender in any election. Curator's other holders expect theirs to be replaced.
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
