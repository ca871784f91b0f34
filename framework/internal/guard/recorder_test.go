package guard

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A recorder records what becomes of requests, and what is reported besides, in order.
type recorder struct {
	mu      sync.Mutex
	log     []string
	answers map[int]Answer // by the number of the request
}

// A recorded request is one of a recorder.
type recorded struct {
	*recorder
	number   int
	sent     func()         // if it is set
	answered func(a Answer) // if it is set
}

// request returns a request with this number.
func (r *recorder) request(number int) *recorded { return &recorded{recorder: r, number: number} }

// Sent and Answered implement Request.
func (r *recorded) Sent() {
	r.add("sent %d", r.number)
	if r.sent != nil {
		r.sent()
	}
}

func (r *recorded) Answered(a Answer) {
	a.Body = bytes.Clone(a.Body)
	r.mu.Lock()
	if r.answers == nil {
		r.answers = map[int]Answer{}
	}
	r.answers[r.number] = a
	r.mu.Unlock()
	r.add("answer %d", r.number)
	if r.answered != nil {
		r.answered(a)
	}
}

func (r *recorder) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

// took returns what was recorded since the last call.
func (r *recorder) took() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := r.log
	r.log = nil
	return log
}

// answer returns the answer to a request.
func (r *recorder) answer(number int) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answers[number]
}

// listen records the events of a guard.
func (r *recorder) listen(g *Guard) {
	g.events.Event = func(kind int32, path string) { r.add("event %d %s", kind, path) }
	g.events.Attached = func(*Conn) { r.add("attached") }
	g.events.Refused = func(err error) { r.add("refused: %v", err) }
	g.events.WatchesLost = func() { r.add("watches lost") }
	g.events.Suspended = func() { r.add("suspended") }
}

// ask sends requests over a connection: these operations, numbered from first up.
func (r *recorder) ask(t testing.TB, c *Conn, first int, ops ...int32) {
	t.Helper()
	for i, op := range ops {
		require.True(t, c.Send(op, text("/a"), r.request(first+i)))
	}
}

// number is the xid of a guard's so manieth request, from 1 up.
func number(n int) int32 { return firstXid + int32(n) }

// A deaf request ignores its answer.
type deaf struct{}

func (deaf) Sent()           {}
func (deaf) Answered(Answer) {}

// frames splits bytes into frames.
func frames(t testing.TB, all []byte) (split [][]byte) {
	t.Helper()
	for len(all) > 0 {
		size := frameHeader + int(be32(all))
		require.GreaterOrEqual(t, len(all), size, "half a frame")
		split, all = append(split, slices.Clone(all[:size])), all[size:]
	}
	return split
}
