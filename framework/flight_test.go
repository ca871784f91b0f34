package framework

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// results are those of a request for several nodes, with an end mark where it is nil.
func results(each ...func(e *jute.Encoder)) guard.Answer {
	e := jute.NewEncoder(64)
	for _, write := range each {
		if write == nil {
			e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1})
			continue
		}
		write(e)
	}
	return guard.Answer{Zxid: 7, Body: e.Bytes()}
}

func ofType(code int32, then ...string) func(e *jute.Encoder) {
	return func(e *jute.Encoder) {
		e.MultiHeader(jute.MultiHeader{Type: code})
		for _, text := range then {
			e.String(text)
		}
	}
}

func shows(names ...string) func(e *jute.Encoder) {
	return func(e *jute.Encoder) {
		ofType(guard.OpGetChildren)(e)
		e.Int32(int32(len(names)))
		for _, name := range names {
			e.String(name)
		}
	}
}

func fails(code int32) func(e *jute.Encoder) {
	return func(e *jute.Encoder) {
		ofType(multiFailed)(e)
		e.Int32(code)
	}
}

func endsBefore(code int32) func(e *jute.Encoder) {
	return func(e *jute.Encoder) {
		e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1})
		e.Int32(code)
	}
}

// Only an answer that shows all listings counts.
func TestAnswersThatShowNotAllListings(t *testing.T) {
	t.Parallel()
	f := flight{members: make([]member, 2)}
	for name, a := range map[string]guard.Answer{
		"refused":                   {Code: -127},
		"none":                      {Err: guard.ErrConnectionClosed},
		"nothing":                   results(nil),
		"one too few":               results(shows("a", "b"), nil),
		"an end in the middle":      results(shows(), endsBefore(-101), nil),
		"one too many":              results(shows("a"), shows("b"), shows("c"), nil),
		"no end":                    results(shows("a"), shows("b")),
		"of another kind":           results(shows(), ofType(guard.OpCreate, "/a"), nil),
		"a failure without a cause": results(shows(), fails(0), nil),
	} {
		assert.Nil(t, f.listings(a), name)
	}
	each := f.listings(results(shows("a", "b"), fails(-101), nil))
	require.Len(t, each, 2)
	assert.Equal(t, []string{"a", "b"}, decodeNames(jute.NewDecoder(each[0].Body)))
	assert.Equal(t, guard.Answer{Zxid: 7, Code: -101}, guard.Answer{Zxid: each[1].Zxid, Code: each[1].Code})
}
