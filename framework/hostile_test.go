package framework

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A liar is a server that grants sessions, answers pings and closes, and says what it is
// told to say to the rest.
type liar struct {
	mu       sync.Mutex
	say      func(xid, op int32) []byte // frames
	asked    map[int32]int              // how often, by operation
	attached int
}

func (l *liar) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		if _, err := readFrame(far); err != nil {
			return
		}
		_, reply := hello(7)
		l.mu.Lock()
		l.attached++
		l.mu.Unlock()
		for {
			if _, err := far.Write(reply); err != nil {
				return
			}
			body, err := readFrame(far)
			if err != nil {
				return
			}
			xid, op := be32(body), be32(body[4:])
			if op == opPing || op == opClose {
				reply = answer(xid, 1, 0)
				continue
			}
			l.mu.Lock()
			l.asked[op]++
			reply = l.say(xid, op)
			l.mu.Unlock()
		}
	}()
	return near, nil
}

// connect returns a client of the liar, which tells the truth about syncs until the client
// has a session.
func (l *liar) connect(t testing.TB, set ...func(*Config)) *Client {
	t.Helper()
	lies := l.say
	l.asked, l.say = map[int32]int{}, func(xid, _ int32) []byte { return answer(xid, 1, 0, text("/")...) }
	cfg := Config{Servers: []string{"liar"}, Dial: l.dial, SessionTimeout: 9 * time.Second, Logger: slog.New(slog.DiscardHandler)}
	for _, f := range set {
		f(&cfg)
	}
	c, err := Connect(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	l.mu.Lock()
	l.say = lies
	l.mu.Unlock()
	return c
}

func (l *liar) connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.attached
}

// calls makes each request of this package that has an answer, by the code of its
// operation, in the form that is not repeated.
func calls(ctx context.Context, c *Client) map[string]struct {
	op   int32
	call func() error
} {
	type request = struct {
		op   int32
		call func() error
	}
	c = c.Once()
	return map[string]request{
		"get":                  {opGetData, func() error { _, _, err := c.Get(ctx, "/a"); return err }},
		"get with a watch":     {opGetData, func() error { _, _, _, err := c.GetWatch(ctx, "/a"); return err }},
		"exists":               {opExists, func() error { _, _, err := c.Exists(ctx, "/a"); return err }},
		"exists with a watch":  {opExists, func() error { _, _, _, err := c.ExistsWatch(ctx, "/a"); return err }},
		"children":             {opGetChildren2, func() error { _, _, err := c.Children(ctx, "/a"); return err }},
		"children and a watch": {opGetChildren2, func() error { _, _, _, err := c.ChildrenWatch(ctx, "/a"); return err }},
		"get acl":              {opGetACL, func() error { _, _, err := c.GetACL(ctx, "/a"); return err }},
		"set acl":              {opSetACL, func() error { _, err := c.SetACL(ctx, "/a", WorldACL(PermAll), AnyVersion); return err }},
		"set":                  {opSetData, func() error { _, err := c.Set(ctx, "/a", nil, AnyVersion); return err }},
		"sync":                 {opSync, func() error { return c.Sync(ctx, "/a") }},
		"create":               {opCreate, func() error { _, err := c.Create(ctx, "/a", nil, Persistent); return err }},
		"create container":     {opContainer, func() error { _, err := c.Create(ctx, "/a", nil, Container); return err }},
		"create with a ttl": {opCreateTTL, func() error {
			_, err := c.Create(ctx, "/a", nil, Persistent, WithTTL(time.Minute))
			return err
		}},
		"multi": {opMulti, func() error {
			_, err := c.Multi(ctx, CheckOp("/a", AnyVersion), CreateOp("/b", nil, Persistent, nil), SetOp("/c", nil, AnyVersion), DeleteOp("/d", AnyVersion))
			return err
		}},
		"multi of checks": {opMulti, func() error { _, err := c.Multi(ctx, CheckOp("/a", AnyVersion)); return err }},
		"many at once":    {opMulti, func() error { _, err := c.CreateProtectedAll(ctx, "/a-", nil, 2); return err }},
		"delete":          {opDelete, func() error { return c.Delete(ctx, "/a", AnyVersion) }},
	}
}

// wellFormed returns answers as servers give them, and the least of those.
func wellFormed() map[int32][][]byte {
	stat := make([]byte, statBytes)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	result := func(kind int32, rest ...byte) []byte {
		return append([]byte{byte(kind >> 24), byte(kind >> 16), byte(kind >> 8), byte(kind), 0, 0, 0, 0, 0}, rest...)
	}
	end := []byte{0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff}
	return map[int32][][]byte{
		opGetData:      {join(text("data"), stat), join([]byte{0xff, 0xff, 0xff, 0xff}, stat), join(text(""), stat)},
		opExists:       {stat},
		opGetChildren2: {join([]byte{0, 0, 0, 2}, text("a"), text(""), stat), join([]byte{0, 0, 0, 0}, stat)},
		opGetACL:       {join([]byte{0, 0, 0, 1, 0, 0, 0, 31}, text("world"), text("anyone"), stat), join([]byte{0, 0, 0, 0}, stat)},
		opSetACL:       {stat},
		opSetData:      {stat},
		opSync:         {text("/a")},
		opCreate:       {text("/a"), text("")},
		opContainer:    {join(text("/a"), stat), text("/a")}, // what follows is new in 3.5
		opCreateTTL:    {text("/a")},
		opMulti: {
			join(result(opCheck), result(opCreate, text("/b")...), result(opSetData, stat...), result(opDelete), end),
			join(result(typeError, 0, 0, 0, 0), result(typeError, 0xff, 0xff, 0xff, 0x9b), result(typeError, 0xff, 0xff, 0xff, 0xfe), end),
			end,
		},
		opDelete: {nil},
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
	require.NoError(t, checkEvent(append([]byte{0, 0, 0, 2, 0, 0, 0, 3}, text("/a")...)))
}

// No answer may end before its parts do, wherever it is cut.
func TestAnswersCutShortAreNoticed(t *testing.T) {
	t.Parallel()
	for op, bodies := range wellFormed() {
		for _, body := range bodies {
			if op == opContainer {
				body = text("/a")
			}
			for n := range body {
				require.ErrorIs(t, checkAnswer(op, body[:n]), errShortFrame, "%d: %x, %d", op, body, n)
			}
		}
	}
	event := append([]byte{0, 0, 0, 2, 0, 0, 0, 3}, text("/a")...)
	for n := range event {
		require.ErrorIs(t, checkEvent(event[:n]), errShortFrame)
	}
}

// lies are answers that the library does not survive, or reads on behind.
var lies = map[int32]map[string][]byte{
	opGetData: {
		"two gigabytes": {0x7f, 0xff, 0xff, 0xf0}, "a stat cut short": append(text("x"), make([]byte, statBytes-1)...),
	},
	opExists: {"nothing": nil, "a stat cut short": make([]byte, statBytes-1)},
	opGetChildren2: {
		"four billion names": {0xff, 0xff, 0xff, 0xf0}, "a vector that is null": append([]byte{0xff, 0xff, 0xff, 0xff}, make([]byte, statBytes)...),
		"two billion names": {0x7f, 0xff, 0xff, 0xff}, "a name that is null": append([]byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff}, make([]byte, statBytes)...),
		"a name too few": append(append([]byte{0, 0, 0, 2}, text("a")...), make([]byte, 3)...),
	},
	opGetACL:    {"four billion entries": {0xff, 0xff, 0xff, 0xf0}, "two billion entries": {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1}},
	opSetACL:    {"nothing": nil},
	opSetData:   {"nothing": nil},
	opSync:      {"nothing": nil, "a path of two gigabytes": {0x7f, 0xff, 0xff, 0xf0}},
	opCreate:    {"nothing": nil, "a path that is null": {0xff, 0xff, 0xff, 0xff}, "a path of two gigabytes": {0x7f, 0xff, 0xff, 0xf0}},
	opContainer: {"nothing": nil},
	opCreateTTL: {"nothing": nil},
	opMulti: {
		"half a header": {0, 0, 0, 13}, "nothing": nil, "no end": {0, 0, 0, opCheck, 0, 0, 0, 0, 0},
		"a result of no kind": {0, 0, 0, 99, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0},
		"an end that creates": {0, 0, 0, opCreate, 1, 0, 0, 0, 0, 0xbb, 0xbb, 0xbb, 0xbb},
		"no results":          {0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff},
		"a code of no server": {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 9, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0},
	},
}

// A server that always lies about a request gives that request an error, at once, and
// takes nothing else with it.
func TestLyingAnswersFailTheirRequest(t *testing.T) {
	for name := range calls(t.Context(), &Client{}) {
		op := calls(t.Context(), &Client{})[name].op
		for lie, body := range lies[op] {
			t.Run(name+", "+lie, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					l := &liar{say: func(xid, asked int32) []byte {
						switch asked {
						case op:
							return answer(xid, 2, 0, body...)
						case opSync:
							return answer(xid, 2, 0, text("/")...)
						}
						return answer(xid, 2, codeNoNode)
					}}
					c := l.connect(t)
					<-time.After(watchGrace)
					began := time.Now()
					err := calls(t.Context(), c)[name].call()
					require.ErrorIs(t, err, errMalformedAnswer)
					assert.Less(t, time.Since(began), time.Second)
					assert.Contains(t, []Outcome{Failed, Unknown}, OutcomeOf(err))
					reads := name[:3] == "get" || op == opExists || op == opGetChildren2 || op == opSync || name == "multi of checks"
					assert.Equal(t, reads, OutcomeOf(err) == Failed, "%v", err)
					if op != opSync {
						<-time.After(time.Second) // the client goes on
						require.ErrorIs(t, c.Delete(t.Context(), "/x", AnyVersion), ErrNoNode)
						require.NoError(t, c.Session().Err())
						if lie != "no results" && lie != "an end that creates" { // which are well-formed
							assert.Equal(t, 2, l.connections(), "a server that lies is left")
						}
					}
				})
			})
		}
	}
}

// What belongs to no request breaks the connection, and whoever loses his answer by that
// learns why.
func TestLiesThatNobodyAskedFor(t *testing.T) {
	event := func(body ...byte) func(xid, op int32) []byte {
		return func(int32, int32) []byte { return answer(xidEvent, 0, 0, body...) }
	}
	for name, c := range map[string]struct {
		say  func(xid, op int32) []byte
		tell string
	}{
		"an event that is empty":    {event(), "malformed frame: a type of 4 bytes where 0 are left"},
		"an event of two gigabytes": {event(0, 0, 0, 1, 0, 0, 0, 3, 0x7f, 0xff, 0xff, 0xf0), "malformed frame: a string of 2147483632 bytes where 0 are left"},
		"an event of a session":     {event(append([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 101}, text("/")...)...), "malformed frame: an event of type -1"},
		"an event with an error code": {
			func(int32, int32) []byte {
				return answer(xidEvent, 0, -1, append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x90}, text("/")...)...)
			},
			"malformed frame: an event of type -1",
		},
		"an answer to nobody":            {func(xid, _ int32) []byte { return answer(xid+100, 1, 0) }, "malformed frame: an answer to nothing that was asked"},
		"an error code that is a number": {func(xid, _ int32) []byte { return answer(xid, 1, 17) }, "malformed frame: error code 17"},
		"a large event":                  {event(make([]byte, 70<<10)...), "malformed frame: 71696 bytes that nobody asked for, the limit is 65536"},
		"a length below zero":            {func(int32, int32) []byte { return []byte{0xff, 0xff, 0xff, 0xff} }, "malformed frame: a length of -1 bytes"},
		"half a header":                  {func(int32, int32) []byte { return []byte{0, 0, 0, 15} }, "malformed frame: an answer of 15 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &liar{say: c.say}
				client := l.connect(t, func(cfg *Config) { cfg.MaxReplyBytes = 64 << 10 })
				_, _, err := client.Once().Children(t.Context(), "/a")
				require.ErrorContains(t, err, "connection to liar:2181 broke: "+c.tell)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				_, _, err = client.Children(ctx, "/a")
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Greater(t, l.connections(), 1)
				require.Less(t, l.connections(), 200)
			})
		})
	}
}
