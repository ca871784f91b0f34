package guard

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A check has a limited number of nodes and is no larger than a request may be, but
// never empty.
func TestSizeOfACheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		nodes, length, limit, want int
	}{
		"few":         {5, 10, 1 << 20, 5},
		"many":        {100, 10, 1 << 20, maxChecked},
		"long paths":  {100, 10_000, 25_000 + checkOverhead, 2},
		"short paths": {100, 10, 5*checkBytes("/123456789") + checkOverhead, 5},
		"a long path": {3, 10_000, 1000 + checkOverhead, 1},
	} {
		conn := connected(t)
		session := conn.guard
		session.cfg.MaxRequestBytes = c.limit
		var paths []string
		for i := range c.nodes {
			paths = append(paths, fmt.Sprintf("/%03d%s", i, strings.Repeat("x", c.length-4)))
		}
		relyingOn(t, conn, paths...)
		vouch(conn)
		sent := unwritten(conn)
		assert.Len(t, conn.vouching, c.want, name)
		assert.Equal(t, checkRequest(xidVouch, relied(paths[:c.want])), sent, name)
		if c.want > 1 {
			assert.LessOrEqual(t, len(sent), c.limit, name)
		}
	}
}

// Also when nothing relies on the session, nothing moves a deadline that was reached,
// although no call has checked the clock.
func TestDeadlineOfAAloneStaysReached(t *testing.T) {
	t.Parallel()
	window := trustWindow(sessionLength)
	for name, late := range map[string]func(tr *trust, now time.Time){
		"handshake": func(tr *trust, now time.Time) { tr.begin(now, now, sessionLength) },
		"grant":     func(tr *trust, now time.Time) { assert.False(t, tr.rely(now)) },
		"round trips": func(tr *trust, now time.Time) {
			tr.answer(now.Add(-window/2), now, true)
			tr.answer(now, now, true)
		},
	} {
		begun := time.Now()
		var tr trust
		tr.begin(begun, begun, sessionLength)
		tr.answer(begun.Add(window/10), begun.Add(window/10), true)
		tr.committed(begun.Add(window*3/4), begun.Add(window*3/4)) // Q is young
		until := tr.until()
		late(&tr, until)
		assert.ErrorIs(t, tr.expired(until), errUnanswered, name)
		assert.Equal(t, until, tr.until(), name)
	}
}

// While a transaction is under way no other is sent. One that proved nothing is
// repeated soon. Nothing is sent over a connection that has no session yet.
func TestWhenAQuorumIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn := connected(t, answer(xidVouch, 5, -127))
		session := conn.guard
		relyingOn(t, conn, "/a")
		<-time.After(sessionLength / 16)
		require.Equal(t, sessionLength*3/16, session.checkVouch(time.Now()))
		require.Empty(t, unwritten(conn))
		<-time.After(sessionLength * 3 / 16)
		conn.attached = false
		require.Equal(t, time.Hour, session.checkVouch(time.Now()))
		conn.attached = true
		require.Empty(t, unwritten(conn))

		require.Equal(t, sessionLength/24, session.checkVouch(time.Now()))
		require.Equal(t, checkRequest(xidVouch, relied([]string{"/a"})), unwritten(conn))
		require.Equal(t, sessionLength/24, session.checkVouch(time.Now()))
		require.Empty(t, unwritten(conn), "once")

		readOne(t, conn)
		require.Equal(t, sessionLength/24, session.checkVouch(time.Now()))
		require.Equal(t, checkRequest(xidVouch-1, relied([]string{"/a"})), unwritten(conn), "it was throttled")
	})
}

// A check is put behind a frame that is being put in order.
func TestACheckWaitsForTheOrder(t *testing.T) {
	t.Parallel()
	c := connected(t)
	relyingOn(t, c, "/a")
	c.order.Lock()
	checked := make(chan time.Duration)
	go func() { checked <- c.guard.checkVouch(time.Now().Add(sessionLength / 2)) }()
	select {
	case <-checked:
		t.Error("it has not waited")
	case <-time.After(20 * time.Millisecond):
		defer func() { <-checked }()
	}
	assert.Empty(t, c.out)
	c.order.Unlock()
}

// relying returns the nodes that some work relies on.
func relying(paths []string, failed func(int32)) *Relied {
	r := &Relied{failed: failed}
	for _, path := range paths {
		r.Add(path)
	}
	return r
}

func relied(paths []string) []*reliedNode {
	var all reliedNodes
	all.add(relying(paths, nil))
	return all.next(len(paths), 1<<30)
}
