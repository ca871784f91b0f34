package integration

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A referee checks the leases of all clients of this process, and what they write.
type referee struct {
	mu         sync.Mutex
	holders    map[*lease.Lease]bool // which have not begun to release
	releasing  map[int]int           // how many of a client are waiting for the answer to their delete
	last       lease.Token           // granted
	writer     lease.Token           // the greatest that is known to have written
	written    int                   // what it has written
	sure, open int                   // increments: carried out; without an answer
	grants     int
	early      int // grants while an earlier holder of the same client waits for the answer to its delete
	lost       int
	faults     []string
}

func newReferee() *referee {
	return &referee{holders: map[*lease.Lease]bool{}, releasing: map[int]int{}}
}

func (r *referee) faultf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faultLocked(format, args...)
}

func (r *referee) faultLocked(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *referee) grant(team int, held *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grants++
	if r.releasing[team] > 0 {
		r.early++
	}
	if held.Token() <= r.last {
		r.faultLocked("token %d was granted after token %d", held.Token(), r.last)
	}
	r.last = max(r.last, held.Token())
	for other := range r.holders {
		if other.Err() == nil && held.Err() == nil {
			r.faultLocked("tokens %d and %d are valid at once", other.Token(), held.Token())
		}
	}
	r.holders[held] = true
}

// release records that a holder is about to release.
func (r *referee) release(team int, held *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.holders, held)
	r.releasing[team]++
	if held.Err() != nil {
		r.lost++
	}
}

func (r *referee) released(team int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releasing[team]--
}

func (r *referee) read(held *lease.Lease, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < r.written {
		r.faultLocked("token %d has read %d, after token %d had written %d", held.Token(), n, r.writer, r.written)
	}
}

func (r *referee) wrote(held *lease.Lease, n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.sure++
		if held.Token() <= r.writer || n <= r.written {
			r.faultLocked("token %d has written %d, after token %d had written %d", held.Token(), n, r.writer, r.written)
		}
		r.writer, r.written = max(r.writer, held.Token()), max(r.written, n)
	case framework.OutcomeOf(err) == framework.Unknown:
		r.open++
	}
}

func (r *referee) lastWriter() lease.Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writer
}

// end checks the counter, and reports.
func (r *referee) end(t *testing.T, data string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := strconv.Atoi(data)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, n, r.sure, "increments are lost")
	assert.LessOrEqual(t, n, r.sure+r.open, "increments have come twice")
	assert.Empty(t, r.faults)
	assert.Positive(t, r.early, "no slot was handed over before the delete was answered")
	t.Logf("%d grants, %d of them before the delete was answered, %d leases lost, %d increments and %d without an answer, counter %d",
		r.grants, r.early, r.lost, r.sure, r.open, n)
}
