package framework

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A tableModel is a table and a server that may have a watch. Its steps are those of
// reads and events, in any order in which they may come.
type tableModel struct {
	watchTable
	key     watchKey
	server  bool // has the watch
	readers []*tableReader
}

type tableReader struct {
	own              *waiter
	w                *Watch
	armed            bool
	asked            bool // the server has carried out the read
	answered, isGone bool
	stale            bool // it was to set the watch over a connection that has broken
	due              bool // there was a change since for which it must get an event
}

func (m *tableModel) join() string {
	r := &tableReader{w: &Watch{events: make(chan Event, 1)}}
	r.own, r.armed = m.watchTable.join(m.key, r.w)
	m.readers = append(m.readers, r)
	if r.armed && !m.server {
		return "a read sets no watch, and the server has none"
	}
	return ""
}

func (m *tableModel) ask(r *tableReader) {
	if !r.asked && !r.isGone {
		r.asked = true
		m.server = m.server || !r.armed
	}
}

func (m *tableModel) answer(r *tableReader, ok bool) {
	if r.answered || r.isGone || (ok && !r.asked) {
		return
	}
	r.answered = true
	switch {
	case !ok:
		m.leave(r)
	case !r.armed:
		if !r.own.arm(true) {
			m.leave(r)
		}
		r.stale = false
	}
}

func (m *tableModel) leave(r *tableReader) {
	if !r.isGone {
		r.isGone = true
		r.own.drop()
	}
}

// change is one that the server tells of if it has the watch.
func (m *tableModel) change() {
	if !m.server {
		return
	}
	m.server = false
	for _, r := range m.readers {
		r.due = r.due || r.asked
	}
	m.fire(EventDataChanged, m.key.path)
}

// breaks is a new connection. What was not sent over the last one has failed. Other
// answers may be handled late.
func (m *tableModel) breaks() {
	for _, r := range m.readers {
		if !r.asked {
			m.answer(r, false)
		}
		r.stale = r.stale || !r.answered && !r.armed
	}
	m.server = len(m.watched().Data) > 0
}

// recheck is the event when watches cannot be kept.
func (m *tableModel) recheck() {
	m.server = false
	for _, r := range m.readers {
		r.due = true
	}
	m.fireAll(Event{Type: EventRecheck})
}

// check searches for missing events, for events that should not be, and for growth.
func (m *tableModel) check() string {
	waits := false
	for i, r := range m.readers {
		told := len(r.w.events) > 0
		switch {
		case r.isGone:
			continue
		case r.due && !told:
			return fmt.Sprintf("reader %d sleeps on", i)
		case r.asked && !m.server && !told && !r.stale:
			return fmt.Sprintf("reader %d waits for a watch that the server does not have", i)
		}
		waits = waits || !told
	}
	if entry := m.entries[m.key]; entry != nil && !waits && !entry.armed {
		return "an entry without waiters"
	}
	return ""
}

// In whatever order reads and events of one node come: each read gets an event for the
// next change, and no read relies on a watch that the server does not have.
func TestWatchTableAgainstAModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 1))
		m := &tableModel{key: watchKey{dataWatch, "/a"}}
		wrong, log := "", ""
		for step := 0; step < 25 && wrong == ""; step++ {
			kind := random.IntN(10)
			if kind < 2 || len(m.readers) == 0 {
				log += fmt.Sprintf("join %d; ", len(m.readers))
				wrong = m.join()
				continue
			}
			n := random.IntN(len(m.readers))
			r := m.readers[n]
			log += fmt.Sprintf("%s %d; ", []string{"", "", "ask", "ask", "answer", "fail", "leave", "change", "recheck", "break"}[kind], n)
			switch kind {
			case 2, 3:
				m.ask(r)
			case 4:
				m.answer(r, true)
			case 5:
				m.answer(r, false)
			case 6:
				m.leave(r)
			case 7:
				m.change()
			case 8:
				m.recheck()
			case 9:
				m.breaks()
			}
			wrong = m.check()
		}
		require.Empty(t, wrong, "seed %d: %s", seed, log)
	}
}

// A countedContext counts the waiters for its end.
type countedContext struct {
	context.Context
	waiting map[int]func()
	next    int
}

func (c *countedContext) Done() <-chan struct{} { return make(chan struct{}) }

// AfterFunc is what the context package looks for.
func (c *countedContext) AfterFunc(f func()) func() bool {
	n := c.next
	c.next++
	c.waiting[n] = f
	return func() bool {
		_, ok := c.waiting[n]
		delete(c.waiting, n)
		return ok
	}
}

// A context may last much longer than the watches that were set under it: each is
// forgotten by it when it is over, whichever way.
func TestWatchThatIsOverIsForgottenByItsContext(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(table *watchTable){
		"fired":   func(table *watchTable) { table.fire(EventDeleted, "/a") },
		"recheck": func(table *watchTable) { table.fireAll(Event{Type: EventRecheck}) },
	} {
		for _, early := range []bool{false, true} {
			ctx := &countedContext{Context: t.Context(), waiting: map[int]func(){}}
			var table watchTable
			w := &Watch{events: make(chan Event, 1)}
			own, _ := table.join(watchKey{dataWatch, "/a"}, w)
			own.arm(true)
			if early { // before the read has returned
				event(&table)
			}
			w.bind(ctx, own)
			assert.Equal(t, 1, ctx.next)
			if !early {
				assert.Len(t, ctx.waiting, 1)
				event(&table)
			}
			assert.Empty(t, ctx.waiting, "%s, early: %v", name, early)
			assert.Len(t, w.Events(), 1)
			assert.Empty(t, table.entries)
		}
	}
}

// occupied counts the watches of a table, and their waiters.
func occupied(table *watchTable) (entries, waiting int) {
	table.mu.Lock()
	defer table.mu.Unlock()
	for _, entry := range table.entries {
		for w := entry.first; w != nil; w = w.next {
			waiting++
		}
	}
	return len(table.entries), waiting
}

// A read may be answered when its session is over, after all waiters got that event. A
// watch that it returned then would never fire.
func TestReadThatIsAnsweredWhenItsSessionIsOverLeavesNoWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		c, err := Connect(t.Context(), Config{Servers: []string{s.Addr()}, Dial: s.Dial("client"), Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		defer c.Close()
		for range 20 { // which comes first, the answer or the end, is chance
			session := c.Session()
			ends := func(*jute.Decoder) int {
				session.over(ErrSessionExpired)
				return 1
			}
			_, _, w, err := (&reading[int]{op: "exists", code: guard.OpExists, decode: ends}).watched(t.Context(), c.In(session), "/")
			require.ErrorIs(t, err, ErrSessionLost)
			require.Nil(t, w)
			synctest.Wait() // for the answer, if the caller was first
			entries, _ := occupied(&session.watch)
			require.Zero(t, entries)
			time.Sleep(time.Minute)
		}
	})
}

// A read that failed, and one whose caller has left, keep no place in the table.
func TestReadsThatGiveNoWatchLeaveNoWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		c, err := Connect(t.Context(), Config{Servers: []string{s.Addr()}, Dial: s.Dial("client"), Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		defer c.Close()
		table := &c.Session().watch
		_, _, _, err = c.GetWatch(t.Context(), "/missing")
		require.ErrorIs(t, err, ErrNoNode)
		_, _, _, err = c.ChildrenWatch(t.Context(), "/missing")
		require.ErrorIs(t, err, ErrNoNode)
		entries, _ := occupied(table)
		assert.Zero(t, entries)

		s.On(zktest.OpGetData, "/").After().Delay(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		_, _, _, err = c.GetWatch(ctx, "/")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(2 * time.Second)
		_, waiting := occupied(table)
		assert.Zero(t, waiting)
	})
}
