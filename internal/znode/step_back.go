package znode

import (
	"bytes"
	"slices"
)

// stepBackMark is what is appended to the data of a candidate's znode to request that
// the candidate leaves the queue and joins it again.
const stepBackMark = "__STEP_BACK__"

// StepBackRequested reports whether data requests that a candidate steps back.
func StepBackRequested(data []byte) bool {
	data, _ = cutMark(data, revokeMark)
	return bytes.HasSuffix(data, []byte(stepBackMark))
}

// MarkStepBack returns the data that requests that a candidate steps back, and whether
// that is a change. It keeps the id, and a request for revocation.
func MarkStepBack(data []byte) (marked []byte, change bool) {
	if StepBackRequested(data) {
		return data, false
	}
	id, revoked := cutMark(data, revokeMark)
	marked = slices.Concat(id, []byte("\n"+stepBackMark))
	if revoked {
		marked = append(marked, "\n"+revokeMark...)
	}
	return marked, true
}

// cutMark returns the data from before a mark.
func cutMark(data []byte, mark string) (before []byte, found bool) {
	if rest, ok := bytes.CutSuffix(data, []byte(mark)); ok {
		return bytes.TrimSuffix(rest, []byte("\n")), true
	}
	return data, false
}
