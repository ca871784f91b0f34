package guard_test

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

// A hostileServer grants sessions, and answers pings and closes. To all else it answers
// what say returns.
type hostileServer struct {
	mu       sync.Mutex
	say      func(xid, op int32) []byte // frames
	asked    map[int32]int              // requests, by operation
	attached int
}

func (s *hostileServer) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		if _, err := jute.ReadFrame(far, 64<<10); err != nil {
			return
		}
		_, reply := guard.ConnectFrames(7)
		s.mu.Lock()
		s.attached++
		s.mu.Unlock()
		for {
			if _, err := far.Write(reply); err != nil {
				return
			}
			body, err := jute.ReadFrame(far, 64<<10)
			if err != nil {
				return
			}
			xid, op := guard.Be32(body), guard.Be32(body[4:])
			if op == guard.OpPing || op == guard.OpClose {
				reply = guard.AnswerFrame(xid, 1, 0)
				continue
			}
			s.mu.Lock()
			s.asked[op]++
			reply = s.say(xid, op)
			s.mu.Unlock()
		}
	}()
	return near, nil
}

// connect returns a client of the server. Until the client has a session the server
// answers syncs correctly.
func (s *hostileServer) connect(t testing.TB, set ...func(*framework.Config)) *framework.Client {
	t.Helper()
	say := s.say
	s.asked, s.say = map[int32]int{}, func(xid, _ int32) []byte { return guard.AnswerFrame(xid, 1, 0, guard.Text("/")...) }
	cfg := framework.Config{Servers: []string{"hostile"}, Dial: s.dial, SessionTimeout: 9 * time.Second, Logger: slog.New(slog.DiscardHandler)}
	for _, f := range set {
		f(&cfg)
	}
	c, err := framework.Connect(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	s.mu.Lock()
	s.say = say
	s.mu.Unlock()
	return c
}

func (s *hostileServer) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached
}

// calls are all requests of package framework that have an answer, with the operation
// code, in the form that is not repeated.
func calls(ctx context.Context, c *framework.Client) map[string]struct {
	op   int32
	call func() error
} {
	type request = struct {
		op   int32
		call func() error
	}
	if kit.Usable(c) == nil { // else only the names are wanted
		c = kit.Of(c).Once()
	}
	return map[string]request{
		"get":                  {guard.OpGetData, func() error { _, _, err := c.Get(ctx, "/a"); return err }},
		"get with a watch":     {guard.OpGetData, func() error { _, _, _, err := c.GetWatch(ctx, "/a"); return err }},
		"exists":               {guard.OpExists, func() error { _, _, err := c.Exists(ctx, "/a"); return err }},
		"exists with a watch":  {guard.OpExists, func() error { _, _, _, err := c.ExistsWatch(ctx, "/a"); return err }},
		"children":             {guard.OpGetChildren2, func() error { _, _, err := c.Children(ctx, "/a"); return err }},
		"children and a watch": {guard.OpGetChildren2, func() error { _, _, _, err := c.ChildrenWatch(ctx, "/a"); return err }},
		"get acl":              {guard.OpGetACL, func() error { _, _, err := c.GetACL(ctx, "/a"); return err }},
		"set acl": {guard.OpSetACL, func() error {
			_, err := c.SetACL(ctx, "/a", framework.WorldACL(framework.PermAll), framework.AnyVersion)
			return err
		}},
		"set":              {guard.OpSetData, func() error { _, err := c.Set(ctx, "/a", nil, framework.AnyVersion); return err }},
		"sync":             {guard.OpSync, func() error { return c.Sync(ctx, "/a") }},
		"create":           {guard.OpCreate, func() error { _, err := c.Create(ctx, "/a", nil, framework.Persistent); return err }},
		"create container": {guard.OpContainer, func() error { _, err := c.Create(ctx, "/a", nil, framework.Container); return err }},
		"create with a ttl": {guard.OpCreateTTL, func() error {
			_, err := c.Create(ctx, "/a", nil, framework.Persistent, framework.WithTTL(time.Minute))
			return err
		}},
		"multi": {guard.OpMulti, func() error {
			_, err := c.Multi(ctx, framework.CheckOp("/a", framework.AnyVersion), framework.CreateOp("/b", nil, framework.Persistent), framework.SetOp("/c", nil, framework.AnyVersion), framework.DeleteOp("/d", framework.AnyVersion))
			return err
		}},
		"multi of checks": {guard.OpMulti, func() error { _, err := c.Multi(ctx, framework.CheckOp("/a", framework.AnyVersion)); return err }},
		"many at once":    {guard.OpMulti, func() error { _, err := kit.Of(c).CreateProtectedAll(ctx, "/a-", nil, 2, nil); return err }},
		"delete":          {guard.OpDelete, func() error { return c.Delete(ctx, "/a", framework.AnyVersion) }},
	}
}

// A server that always answers a request malformed fails that request, at once, and
// nothing else.
func TestMalformedAnswersFailTheirRequest(t *testing.T) {
	for name := range calls(t.Context(), &framework.Client{}) {
		op := calls(t.Context(), &framework.Client{})[name].op
		for kind, body := range guard.Malformed[op] {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &hostileServer{say: func(xid, asked int32) []byte {
						switch asked {
						case op:
							return guard.AnswerFrame(xid, 2, 0, body...)
						case guard.OpSync:
							return guard.AnswerFrame(xid, 2, 0, guard.Text("/")...)
						}
						return guard.AnswerFrame(xid, 2, guard.CodeNoNode)
					}}
					c := s.connect(t)
					<-time.After(20 * time.Millisecond)
					began := time.Now()
					err := calls(t.Context(), c)[name].call()
					require.ErrorContains(t, err, "malformed answer")
					assert.Less(t, time.Since(began), time.Second)
					assert.Contains(t, []framework.Outcome{framework.Failed, framework.Unknown}, framework.OutcomeOf(err))
					reads := name[:3] == "get" || op == guard.OpExists || op == guard.OpGetChildren2 || op == guard.OpSync || name == "multi of checks"
					assert.Equal(t, reads, framework.OutcomeOf(err) == framework.Failed, "%v", err)
					if op != guard.OpSync {
						<-time.After(time.Second) // the client goes on
						require.ErrorIs(t, c.Delete(t.Context(), "/x", framework.AnyVersion), framework.ErrNoNode)
						require.NoError(t, c.Session().Err())
						if kind != "no results" && kind != "an end that creates" { // which are well-formed
							assert.Equal(t, 2, s.connections(), "a server that answers malformed is left")
						}
					}
				})
			})
		}
	}
}

// A frame that belongs to no request breaks the connection. A caller whose answer is
// dropped by that gets the reason.
func TestMalformedFramesWithoutARequest(t *testing.T) {
	event := func(body ...byte) func(xid, op int32) []byte {
		return func(int32, int32) []byte { return guard.AnswerFrame(guard.XidEvent, 0, 0, body...) }
	}
	for name, c := range map[string]struct {
		say  func(xid, op int32) []byte
		tell string
	}{
		"an event that is empty":    {event(), "malformed frame: an int needs 4 bytes, 0 are left"},
		"an event of two gigabytes": {event(0, 0, 0, 1, 0, 0, 0, 3, 0x7f, 0xff, 0xff, 0xf0), "malformed frame: a buffer needs 2147483632 bytes, 0 are left"},
		"an event of a session":     {event(append([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 101}, guard.Text("/")...)...), "malformed frame: an event of type -1"},
		"an event with an error code": {
			func(int32, int32) []byte {
				return guard.AnswerFrame(guard.XidEvent, 0, -1, append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x90}, guard.Text("/")...)...)
			},
			"malformed frame: an event of type -1",
		},
		"an answer to no request":        {func(xid, _ int32) []byte { return guard.AnswerFrame(xid+100, 1, 0) }, "malformed frame: an answer to no request"},
		"an error code that is a number": {func(xid, _ int32) []byte { return guard.AnswerFrame(xid, 1, 17) }, "malformed frame: error code 17"},
		"a large event":                  {event(make([]byte, 70<<10)...), "malformed frame: 71696 bytes that no request asked for, the limit is 65536"},
		"a length below zero":            {func(int32, int32) []byte { return []byte{0xff, 0xff, 0xff, 0xff} }, "malformed frame: a length of -1 bytes"},
		"half a header":                  {func(int32, int32) []byte { return []byte{0, 0, 0, 15} }, "malformed frame: an answer of 15 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &hostileServer{say: c.say}
				client := s.connect(t, func(cfg *framework.Config) { cfg.MaxReplyBytes = 64 << 10 })
				_, _, err := kit.Of(client).Once().Children(t.Context(), "/a")
				require.ErrorContains(t, err, "connection to hostile:2181 broke: "+c.tell)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				_, _, err = client.Children(ctx, "/a")
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Greater(t, s.connections(), 1)
				require.Less(t, s.connections(), 200)
			})
		})
	}
}
