package zktest_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
	"github.com/zkrecipes/zkrecipes/zktest/internal/script"
)

// lifetime is the timeout of sessions in tests of splits.
const lifetime = 6 * time.Second

// dialer connects a client under a name.
func dialer(s *zktest.Server, name string) script.Dialer {
	return func(ctx context.Context) (net.Conn, error) { return s.Dial(name)(ctx, "tcp", s.Addr()) }
}

// speak connects a named client that sends raw frames, with a new session, or with that
// of another connection.
func speak(t *testing.T, s *zktest.Server, name string, of *script.Conn, seen int64) (*script.Conn, error) {
	t.Helper()
	var id int64
	var password []byte
	if of != nil {
		id, password = of.ID, of.Password
	}
	c, err := script.Connect(t.Context(), dialer(s, name), lifetime, id, password, seen)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func speaker(t *testing.T, s *zktest.Server, name string, of *script.Conn) *script.Conn {
	t.Helper()
	c, err := speak(t, s, name, of, 0)
	require.NoError(t, err)
	require.NotZero(t, c.ID, "the session has expired")
	return c
}

// create and the following functions encode bodies of requests.
func create(path string) func(e *jute.Encoder) {
	return func(e *jute.Encoder) {
		e.String(path)
		writable(e)
	}
}

func read(path string, watch bool) func(e *jute.Encoder) {
	return func(e *jute.Encoder) { e.String(path); e.Bool(watch) }
}

func versioned(path string) func(e *jute.Encoder) {
	return func(e *jute.Encoder) { e.String(path); e.Int32(-1) }
}

func checks(n int) func(e *jute.Encoder) {
	return func(e *jute.Encoder) {
		for range n {
			e.MultiHeader(jute.MultiHeader{Type: int32(zktest.OpCheck), Err: -1})
			e.String("/")
			e.Int32(-1)
		}
		e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1})
	}
}

// answer sends a request and fails the test without an answer.
func answer(t *testing.T, c *script.Conn, op zktest.Op, body func(e *jute.Encoder)) script.Reply {
	t.Helper()
	r, err := c.Do(op, body)
	require.NoError(t, err, "no answer to %s", op)
	require.False(t, r.Closed, "the server closed the connection at %s", op)
	return r
}

// hangs sends a request that must not be answered, on a connection that must stay open.
func hangs(t *testing.T, c *script.Conn, op zktest.Op, body func(e *jute.Encoder)) {
	t.Helper()
	r, err := c.Do(op, body)
	require.Error(t, err, "%s was answered: %v", op, r)
}

func TestMinorityAnswersWithTheOldState(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		answer(t, b, zktest.OpCreate, create("/old"))
		then := s.Zxid()
		s.Split("a")
		answer(t, b, zktest.OpDelete, versioned("/old"))
		answer(t, b, zktest.OpCreate, create("/new"))
		for range 3 {
			time.Sleep(10 * lifetime)
			for _, q := range []struct {
				op   zktest.Op
				body func(e *jute.Encoder)
				code zktest.Code
			}{
				{zktest.OpExists, read("/old", false), zktest.OK},
				{zktest.OpExists, read("/new", false), zktest.NoNode},
				{zktest.OpGetData, read("/old", false), zktest.OK},
				{zktest.OpGetChildren2, read("/old", false), zktest.OK},
				{zktest.OpSync, func(e *jute.Encoder) { e.String("/") }, zktest.OK},
				{zktest.OpPing, nil, zktest.OK},
				{zktest.OpSetWatches, func(e *jute.Encoder) { e.Int64(then); e.Strings([]string{"/old"}); e.Strings(nil); e.Strings(nil) }, zktest.OK},
				{zktest.OpAddWatch, func(e *jute.Encoder) { e.String("/"); e.Int32(1) }, zktest.OK},
				{zktest.OpMultiRead, func(e *jute.Encoder) { e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1}) }, zktest.OK},
			} {
				r := answer(t, a, q.op, q.body)
				require.Equal(t, q.code, r.Code, q.op)
				require.Equal(t, then, r.Zxid, q.op)
				require.Empty(t, r.Events)
			}
		}
		answer(t, a, zktest.OpAuth, func(e *jute.Encoder) { e.Int32(0); e.String("digest"); e.Buffer([]byte("me:secret")) })
		require.Contains(t, string(answer(t, a, zktest.OpWhoAmI, nil).Body), "digest")
	})
}

func TestMinorityCommitsNothing(t *testing.T) {
	for op, body := range map[zktest.Op]func(e *jute.Encoder){
		zktest.OpCreate: create("/x"), zktest.OpCreate2: create("/x"), zktest.OpCreateContainer: create("/x"),
		zktest.OpCreateTTL: func(e *jute.Encoder) { create("/x")(e); e.Int64(1000) },
		zktest.OpDelete:    versioned("/old"),
		zktest.OpSetData:   func(e *jute.Encoder) { e.String("/old"); e.Buffer([]byte("x")); e.Int32(-1) },
		zktest.OpSetACL:    func(e *jute.Encoder) { e.String("/old"); e.ACLs(nil); e.Int32(-1) },
		zktest.OpMulti:     checks(1), // the others are below
		zktest.OpCheck:     versioned("/"),
		zktest.OpReconfig:  func(e *jute.Encoder) { e.String(""); e.String(""); e.String(""); e.Int64(-1) },
		zktest.OpClose:     nil,
	} {
		t.Run(op.String(), func(t *testing.T) { commitsNot(t, op, body) })
	}
	t.Run("empty multi", func(t *testing.T) { commitsNot(t, zktest.OpMulti, checks(0)) })
	t.Run("failing multi", func(t *testing.T) { commitsNot(t, zktest.OpMulti, func(e *jute.Encoder) { e.Int32(7) }) })
}

// commitsNot sends a request to a minority. It must have no effect, and all later
// requests must wait behind it.
func commitsNot(t *testing.T, op zktest.Op, body func(e *jute.Encoder)) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		answer(t, b, zktest.OpCreate, create("/old"))
		m := s.Split("a")
		before, dump := s.Zxid(), s.Dump()
		answer(t, a, zktest.OpPing, nil)
		hangs(t, a, op, body)
		hangs(t, a, zktest.OpExists, read("/", false))
		hangs(t, a, zktest.OpPing, nil)
		again := speaker(t, s, "a", a)
		answer(t, again, zktest.OpExists, read("/", false)) // on a connection of its own
		hangs(t, again, zktest.OpSetData, func(e *jute.Encoder) { e.String("/"); e.Buffer(nil); e.Int32(-1) })
		hangs(t, again, zktest.OpSync, func(e *jute.Encoder) { e.String("/") })
		require.Equal(t, before+2, s.Zxid(), "the two sessions have expired, and nothing else has happened")
		m.End()
		require.True(t, answer0(t, again).Closed)
		require.Equal(t, before+2, s.Zxid())
		require.Equal(t, nodesOf(dump), nodesOf(s.Dump()))
		require.Zero(t, s.Count(op)-map[zktest.Op]int{zktest.OpCreate: 1}[op], "what is not answered is not counted")
	})
}

// answer0 sends a ping, on a connection that may be closed.
func answer0(t *testing.T, c *script.Conn) script.Reply {
	t.Helper()
	r, err := c.Do(zktest.OpPing, nil)
	require.NoError(t, err)
	return r
}

// nodesOf returns the lines of a dump that are about nodes.
func nodesOf(dump string) (nodes []string) {
	for line := range strings.Lines(dump) {
		if strings.HasPrefix(line, "/") {
			nodes = append(nodes, line)
		}
	}
	return nodes
}

// A write holds up later answers, but not earlier ones.
func TestMinoritySendsEarlierAnswers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 30*time.Second)
		s.Split("a")
		s.On(zktest.OpExists, "/").After().Delay(5 * time.Second)
		reads := make(chan error, 2)
		for range 2 { // the second answer waits behind the first
			go func() {
				_, _, err := a.Exists("/")
				reads <- err
			}()
			synctest.Wait()
		}
		go func() { _ = a.Delete("/x", -1) }()
		require.NoError(t, <-reads)
		require.NoError(t, <-reads)
	})
}

func TestMinorityRevalidatesForEver(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		seen := s.Zxid()
		m := s.Split("a")
		later := speaker(t, s, "b", nil)
		time.Sleep(10 * lifetime)
		require.Empty(t, s.Sessions(), "the majority has expired all")
		for range 3 {
			again, err := speak(t, s, "a", a, seen)
			require.NoError(t, err)
			require.Equal(t, a.ID, again.ID)
			require.Equal(t, lifetime, again.Timeout)
			require.True(t, answer0(t, a).Closed, "a session has one connection")
			answer(t, again, zktest.OpPing, nil)
			a = again
			time.Sleep(10 * lifetime)
		}
		require.Empty(t, s.Sessions())

		m.Take("b") // whose session has expired, and was attached to the majority
		answer(t, speaker(t, s, "b", b), zktest.OpPing, nil)

		longer, err := script.Connect(t.Context(), dialer(s, "a"), time.Hour, a.ID, a.Password, 0)
		require.NoError(t, err)
		require.Equal(t, 20*zktest.DefaultTick, longer.Timeout, "as negotiated")
		require.NoError(t, longer.Close())

		thief := *a
		thief.Password = make([]byte, 16)
		refused, err := speak(t, s, "a", &thief, 0)
		require.NoError(t, err)
		require.Zero(t, refused.ID, "a wrong password")
		refused, err = speak(t, s, "a", later, 0)
		require.NoError(t, err)
		require.Zero(t, refused.ID, "a session younger than the split")

		m.Return("a")
		refused, err = speak(t, s, "a", a, 0)
		require.NoError(t, err)
		require.Zero(t, refused.ID, "the majority knows")
	})
}

// The majority does not notice that its session is attached to the minority, too.
func TestSessionOnBothSides(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		b := speaker(t, s, "b", nil)
		s.Split("a")
		deadline := s.Sessions()[0].Deadline
		time.Sleep(lifetime / 2)
		again := speaker(t, s, "a", b)
		require.Equal(t, deadline, s.Sessions()[0].Deadline)
		require.Equal(t, "b", s.Sessions()[0].Client)
		answer(t, b, zktest.OpPing, nil)
		answer(t, again, zktest.OpPing, nil)
		require.True(t, s.Sessions()[0].Connected)
	})
}

func TestMinorityOpensNoSession(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		m := s.Split("a")
		before := s.Zxid()
		_, err := speak(t, s, "a", nil, 0)
		var late net.Error
		require.ErrorAs(t, err, &late)
		require.True(t, late.Timeout(), "there is no answer")
		require.Empty(t, s.Sessions())
		m.End()
		require.Equal(t, before, s.Zxid())
		speaker(t, s, "a", nil)
	})
}

func TestMinorityRefusesClientsThatHaveSeenMore(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		m := s.Split()
		seen := s.Zxid()
		answer(t, b, zktest.OpCreate, create("/new"))
		m.Take("a")
		for _, session := range []*script.Conn{a, nil} {
			_, err := speak(t, s, "a", session, seen+1)
			require.Error(t, err)
			var late net.Error
			require.NotErrorAs(t, err, &late, "the connection is closed at once")
		}
		again, err := speak(t, s, "a", a, seen)
		require.NoError(t, err)
		require.Equal(t, a.ID, again.ID)
	})
}
