package guard

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const statBytes = 6*8 + 5*4

// wellFormed returns answers as servers give them, and the shortest of those.
func wellFormed() map[int32][][]byte {
	stat := make([]byte, statBytes)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	result := func(kind int32, rest ...byte) []byte {
		return append([]byte{byte(kind >> 24), byte(kind >> 16), byte(kind >> 8), byte(kind), 0, 0, 0, 0, 0}, rest...)
	}
	end := []byte{0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff}
	return map[int32][][]byte{
		OpGetData:      {join(text("data"), stat), join([]byte{0xff, 0xff, 0xff, 0xff}, stat), join(text(""), stat)},
		OpExists:       {stat},
		OpGetChildren2: {join([]byte{0, 0, 0, 2}, text("a"), text(""), stat), join([]byte{0, 0, 0, 0}, stat)},
		OpGetACL:       {join([]byte{0, 0, 0, 1, 0, 0, 0, 31}, text("world"), text("anyone"), stat), join([]byte{0, 0, 0, 0}, stat)},
		OpSetACL:       {stat},
		OpSetData:      {stat},
		OpSync:         {text("/a")},
		OpCreate:       {text("/a"), text("")},
		OpContainer:    {join(text("/a"), stat), text("/a")}, // what follows is new in 3.5
		OpCreateTTL:    {text("/a")},
		OpMulti: {
			join(result(OpCheck), result(OpCreate, text("/b")...), result(OpSetData, stat...), result(OpDelete), end),
			join(result(typeError, 0, 0, 0, 0), result(typeError, 0xff, 0xff, 0xff, 0x9b), result(typeError, 0xff, 0xff, 0xff, 0xfe), end),
			join(result(OpCreate2, join(text("/c"), stat)...), result(OpCreate, text("/c/n")...), end),
			end,
		},
		OpMultiRead: {
			join(result(OpGetChildren, join([]byte{0, 0, 0, 2}, text("a"), text(""))...), result(OpGetChildren, 0, 0, 0, 0), end),
			join(result(OpGetChildren, 0, 0, 0, 0), result(typeError, 0xff, 0xff, 0xff, 0x9b), end),
		},
		OpDelete: {nil},
	}
}

func TestWellFormedAnswersPass(t *testing.T) {
	t.Parallel()
	for op, bodies := range wellFormed() {
		for _, body := range bodies {
			require.NoError(t, checkAnswer(op, body), "%d: %x", op, body)
			require.NoError(t, checkAnswer(op, append(slices.Clone(body), 1, 2, 3)), "with more than is known here")
		}
	}
	kind, path, err := parseEvent(append([]byte{0, 0, 0, 2, 0, 0, 0, 3}, text("/a")...))
	require.NoError(t, err)
	require.EqualValues(t, 2, kind)
	require.Equal(t, "/a", path)
}

// No answer may end before its parts do, wherever it is cut.
func TestAnswersCutShortAreNoticed(t *testing.T) {
	t.Parallel()
	for op, bodies := range wellFormed() {
		for _, body := range bodies {
			if op == OpContainer {
				body = text("/a")
			}
			for n := range body {
				require.ErrorIs(t, checkAnswer(op, body[:n]), ErrMalformed, "%d: %x, %d", op, body, n)
			}
		}
	}
	event := append([]byte{0, 0, 0, 2, 0, 0, 0, 3}, text("/a")...)
	for n := range event {
		_, _, err := parseEvent(event[:n])
		require.ErrorIs(t, err, ErrMalformed)
	}
}

// malformed are answers that crash the library, or make it read old bytes.
var malformed = map[int32]map[string][]byte{
	OpGetData: {
		"two gigabytes": {0x7f, 0xff, 0xff, 0xf0}, "data of a length below zero": append([]byte{0xff, 0xff, 0xff, 0xfe}, make([]byte, statBytes)...),
		"a stat cut short": append(text("x"), make([]byte, statBytes-1)...),
	},
	OpExists: {"nothing": nil, "a stat cut short": make([]byte, statBytes-1)},
	OpGetChildren2: {
		"four billion names": {0xff, 0xff, 0xff, 0xf0}, "a vector that is null": append([]byte{0xff, 0xff, 0xff, 0xff}, make([]byte, statBytes)...),
		"two billion names": {0x7f, 0xff, 0xff, 0xff}, "a name that is null": append([]byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff}, make([]byte, statBytes)...),
		"a name too few": append(append([]byte{0, 0, 0, 2}, text("a")...), make([]byte, 3)...),
	},
	OpGetACL:    {"four billion entries": {0xff, 0xff, 0xff, 0xf0}, "two billion entries": {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1}},
	OpSetACL:    {"nothing": nil},
	OpSetData:   {"nothing": nil},
	OpSync:      {"nothing": nil, "a path of two gigabytes": {0x7f, 0xff, 0xff, 0xf0}},
	OpCreate:    {"nothing": nil, "a path that is null": {0xff, 0xff, 0xff, 0xff}, "a path of two gigabytes": {0x7f, 0xff, 0xff, 0xf0}},
	OpContainer: {"nothing": nil},
	OpCreateTTL: {"nothing": nil},
	OpMulti: {
		"half a header": {0, 0, 0, 13}, "nothing": nil, "no end": {0, 0, 0, OpCheck, 0, 0, 0, 0, 0},
		"a result of no kind": {0, 0, 0, 99, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0},
		"an end that creates": {0, 0, 0, OpCreate, 1, 0, 0, 0, 0, 0xbb, 0xbb, 0xbb, 0xbb},
		"no results":          {0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff},
		"a code of no server": {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 9, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0},
	},
	OpMultiRead: {
		"nothing": nil, "two billion names": {0, 0, 0, OpGetChildren, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff},
		"a vector that is null": {0, 0, 0, OpGetChildren, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0},
	},
}
