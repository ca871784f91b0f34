package guard

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// results is the body of the answer to a multi: a type and a code for each operation.
func results(of ...[2]int32) []byte {
	var b []byte
	header := func(kind, done byte, code int32) {
		b = binary.BigEndian.AppendUint32(b, uint32(int32(int8(kind))))
		b = append(b, done)
		b = binary.BigEndian.AppendUint32(b, uint32(code))
	}
	for _, r := range of {
		header(byte(r[0]), 0, r[1])
		if r[0] == typeError {
			b = binary.BigEndian.AppendUint32(b, uint32(r[1]))
		}
	}
	header(0xff, 1, -1)
	return b
}

func TestMultiEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body []byte
		want multiEnd
	}{
		"no body":           {nil, multiEnd{}},
		"cut short":         {results([2]int32{OpCheck, 0})[:8], multiEnd{}},
		"empty":             {results(), multiEnd{}},
		"checks":            {results([2]int32{OpCheck, 0}, [2]int32{OpCheck, 0}), multiEnd{committed: true}},
		"deletes":           {results([2]int32{OpDelete, 0}), multiEnd{committed: true}},
		"first failed":      {results([2]int32{typeError, codeNoNode}, [2]int32{typeError, notTried}), multiEnd{code: codeNoNode}},
		"third failed":      {results([2]int32{typeError, 0}, [2]int32{typeError, 0}, [2]int32{typeError, codeNoAuth}, [2]int32{typeError, notTried}), multiEnd{failed: 2, code: codeNoAuth}},
		"expired":           {results([2]int32{typeError, codeExpired}), multiEnd{code: codeExpired}},
		"failure cut short": {results([2]int32{typeError, 0}, [2]int32{typeError, codeNoAuth})[:20], multiEnd{}},
	} {
		assert.Equal(t, c.want, parseMultiEnd(c.body), name)
	}
}

// An answer proves that the server had received the request (A), and that a quorum had
// acknowledged it (Q). What counts is when the request was sent, however late the
// answer comes.
func TestWhatAnAnswerProves(t *testing.T) {
	t.Parallel()
	type proves struct{ a, q bool }
	nothing, received, committed := proves{}, proves{a: true}, proves{a: true, q: true}
	fail := func(code int32) []byte { return results([2]int32{typeError, code}) }
	for name, c := range map[string]struct {
		op   int32
		code int32
		body []byte
		want proves
	}{
		"create":                     {OpCreate, 0, text("/a"), committed},
		"create container":           {OpContainer, 0, text("/a"), committed},
		"create with a time to live": {OpCreateTTL, 0, text("/a"), committed},
		"delete":                     {OpDelete, 0, nil, committed},
		"set":                        {OpSetData, 0, make([]byte, statBytes), committed},
		"set acl":                    {OpSetACL, 0, make([]byte, statBytes), committed},
		"multi":                      {OpMulti, 0, results([2]int32{OpCheck, 0}), committed},
		"create that is refused":     {OpCreate, -110, nil, received},
		"set that is refused":        {OpSetData, codeNoAuth, nil, received},
		"throttled":                  {OpDelete, -127, nil, received},
		"multi that fails":           {OpMulti, 0, fail(codeNoNode), received},
		"multi that is refused":      {OpMulti, codeNoAuth, nil, received},
		"empty multi":                {OpMulti, 0, results(), received},
		"listings":                   {OpMultiRead, 0, results([2]int32{typeError, codeNoNode}), received},
		"sync":                       {OpSync, 0, text("/"), received},
		"read":                       {OpExists, 0, make([]byte, statBytes), received},
		"read of nothing":            {4, codeNoNode, nil, received},
		"set watches":                {OpSetWatches, 0, nil, received},
		"credentials":                {OpSetAuth, 0, nil, nothing},
		"expired":                    {OpCreate, codeExpired, nil, nothing},
		"moved":                      {OpSetData, codeMoved, nil, nothing},
		"read, moved":                {4, codeMoved, nil, nothing},
		"multi, expired":             {OpMulti, codeExpired, nil, nothing},
		"multi, expired inside":      {OpMulti, 0, fail(codeExpired), nothing},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				request, reply := connectFrames(17)
				xid, isFirst := number(1), c.op == OpSetWatches || c.op == OpSetAuth
				if isFirst {
					xid = xidFirst
				}
				synced := text("/")
				conn := scripted(bytes.Join([][]byte{reply, answer(xid, 5, c.code, c.body...), answer(number(2), 5, 0, synced...), answer(number(3), 5, 0, synced...)}, nil))
				pass := func() { <-time.After(time.Second) }
				begun := time.Now()
				send(t, conn, request)
				pass()
				_, err := io.ReadFull(conn, make([]byte, len(reply)))
				require.NoError(t, err)
				trust := &conn.guard.trust
				assert.Equal(t, begun, trust.vouched, "when the session was asked for")
				assert.Equal(t, begun, trust.proved)

				sent := time.Now()
				var r recorder
				if isFirst {
					conn.guard.cfg.Auth = []Credential{{Scheme: "digest"}}
					conn.guard.nextXid()
					require.True(t, conn.post(ask(xid, c.op)))
				} else {
					r.ask(t, conn, 1, c.op)
				}
				pass()
				readOne(t, conn)
				<-time.After(3 * time.Second) // more than a quarter of the 9 s
				r.ask(t, conn, 2, OpSync)
				readOne(t, conn)
				pass()
				r.ask(t, conn, 3, OpSync)
				readOne(t, conn)
				at := map[bool]time.Time{false: begun, true: sent}
				assert.Equal(t, at[c.want.q], trust.vouched, "Q")
				assert.Equal(t, at[c.want.a], trust.proved, "A")
			})
		})
	}
}

// Each connect request carries the greatest zxid that was seen, also one that the
// library does not know.
func TestConnectRequestHasTheGreatestZxid(t *testing.T) {
	t.Parallel()
	c := connected(t, answer(number(1), 5, 0, text("/")...), answer(xidVouch, 99, 0, results([2]int32{OpCheck, 0})...), answer(number(2), 7, 0, text("/")...), happened(1, "/a"), answer(xidPing, 0, 0))
	var r recorder
	r.ask(t, c, 1, OpSync)
	relyingOn(t, c, "/a")
	vouch(c)
	r.ask(t, c, 2, OpSync)
	require.ErrorIs(t, readAll(t, c), io.EOF)
	require.Len(t, r.answers, 2)
	_, reply := connectFrames(17)

	for theirs, want := range map[int64]int64{0: 99, 7: 99, 99: 99, 100: 100} {
		request := connectRequest(17, make([]byte, 16), 9000, theirs)
		before := bytes.Clone(request)
		again := newConn(c.guard, "b", &script{bytes.NewReader(reply)}, time.Now().Add(time.Minute))
		send(t, again, request)
		assert.Equal(t, before, request, "the library's buffer is as it was")
		assert.Equal(t, connectRequest(17, make([]byte, 16), 9000, want), unwritten(again))
	}
}

// A session that is over, or that another server has, is neither vouched for nor
// trusted any longer.
func TestVouchingThatFindsNoSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer []byte
		want   error
		ends   bool
	}{
		"expired":        {answer(xidVouch, 5, codeExpired), ErrSessionExpired, true},
		"expired inside": {answer(xidVouch, 5, 0, results([2]int32{typeError, codeExpired})...), ErrSessionExpired, true},
		"moved":          {answer(xidVouch, 5, codeMoved), errMoved, false},
		"moved inside":   {answer(xidVouch, 5, 0, results([2]int32{typeError, codeMoved})...), errMoved, false},
		"a caller's":     {answer(number(1), 5, 0, results([2]int32{typeError, codeMoved})...), errMoved, false},
	} {
		conn := connected(t, c.answer)
		session := conn.guard
		relyingOn(t, conn, "/a")
		proved, vouched := session.trust.proved, session.trust.vouched
		vouch(conn)
		require.NotNil(t, conn.vouching, name)
		var r recorder
		r.ask(t, conn, 1, OpMulti)
		require.ErrorIs(t, readAll(t, conn), c.want, name)
		assert.Equal(t, Answer{Err: ErrConnectionClosed}, r.answer(1))
		assert.Nil(t, conn.guard.Live(), "the connection is given up")
		assert.Equal(t, []time.Time{proved, vouched}, []time.Time{session.trust.proved, session.trust.vouched}, name)
		if c.ends {
			assert.ErrorIs(t, session.Err(), c.want, name)
		} else {
			assert.NoError(t, session.Err(), name)
		}
	}
}

// A handshake that is answered after the deadline ends the session, although no call
// has checked the clock before.
func TestHandshakeAfterTheDeadlineDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			request, reply := connectFrames(17)
			c := connected(t)
			session := c.guard
			until := session.TrustedUntil()
			again := newConn(c.guard, "b", &script{bytes.NewReader(reply)}, time.Now().Add(time.Minute))
			<-time.After(trustWindow(sessionLength) - 1)
			send(t, again, request)
			asked := time.Now()
			if late {
				<-time.After(1)
			}
			_, _ = io.ReadFull(again, make([]byte, len(reply)))
			if late {
				assert.ErrorIs(t, context.Cause(session.ctx), ErrTrustExpired)
				assert.Equal(t, until, session.TrustedUntil())
				return
			}
			assert.NoError(t, session.Err())
			assert.Equal(t, asked.Add(trustWindow(sessionLength)), session.TrustedUntil())
		})
	}
}

// A server would take the commit of a request of an earlier connection for the answer.
func TestNoNumberIsUsedTwiceInASession(t *testing.T) {
	t.Parallel()
	session := newTestGuard()
	session.relied.add(relying([]string{"/a"}, nil))
	var numbers []int32
	for range 3 {
		sent := frames(t, unwritten(again(t, session)))
		require.Len(t, sent, 2)
		numbers = append(numbers, be32(sent[1][frameHeader:]))
		assert.EqualValues(t, OpMulti, be32(sent[1][frameHeader+4:]))
	}
	assert.Equal(t, []int32{xidVouch, xidVouch - 1, xidVouch - 2}, numbers)
}

// The least timeout limits what is asked for a session that is closed by hand. A
// handshake that grants less may be all that arrives on a connection: a wait for the
// deadline of the former timeout is ended at once.
func TestGuardRemembersTheLeastTimeout(t *testing.T) {
	t.Parallel()
	request, reply := connectFrames(17)
	c := scripted(reply)
	g := c.guard
	var woken []time.Duration
	g.events.Wake = func() { woken = append(woken, g.Timeout()) }
	for _, millis := range []uint32{9000, 4000, 6000} {
		binary.BigEndian.PutUint32(reply[frameHeader+4:], millis)
		c = newConn(g, "a", &script{bytes.NewReader(reply)}, time.Now().Add(time.Minute))
		send(t, c, request)
		_, err := io.ReadFull(c, make([]byte, len(reply)))
		require.NoError(t, err)
	}
	assert.Equal(t, []time.Duration{9 * time.Second, 4 * time.Second, 4 * time.Second}, woken)
	assert.LessOrEqual(t, g.Supervise(time.Now()), trustWindow(4*time.Second))
}
