package queue

import (
	"encoding/json"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/hold"
)

// Contends reports whether a node of that path is a contender's, by its name.
func Contends(path string) bool {
	_, ok := Parse(lastElement(path), AllNames...)
	return ok
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// MarkRevoked returns the data that asks the holder of a node to give way, and
// whether that is a change. Holders of our own know themselves by their data, which
// is kept; so is the id of a participant in an election, whoever made it.
func MarkRevoked(path string, data []byte) (marked []byte, change bool) {
	if hold.Revoked(data) {
		return data, false
	}
	_, latch := Parse(lastElement(path), LatchName)
	return hold.Mark(data, latch || json.Valid(data)), true
}
