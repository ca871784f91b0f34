package guard

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attaching returns a connection on which two credentials, a check and two watches come
// first. The server will answer these, and more.
func attaching(t testing.TB, r *recorder, says ...[]byte) *Conn {
	t.Helper()
	_, reply := connectFrames(17)
	c := scripted(append(reply, bytes.Join(says, nil)...))
	c.guard.cfg.Auth = []Credential{{"digest", []byte("a:b")}, {"x509", nil}}
	c.guard.events.Watched = func() Watched { return Watched{Data: []string{"/a"}, Children: []string{"/b"}} }
	r.listen(c.guard)
	relyingOn(t, c, "/held")
	return c
}

// first is what comes first on such a connection.
func first(vouch int32, zxid byte) [][]byte {
	return [][]byte{
		ask(xidFirst, OpSetAuth, bytes.Join([][]byte{{0, 0, 0, 0}, text("digest"), text("a:b")}, nil)...),
		ask(xidFirst, OpSetAuth, bytes.Join([][]byte{{0, 0, 0, 0}, text("x509"), text("")}, nil)...),
		checkRequest(vouch, relied([]string{"/held"})),
		ask(xidFirst, OpSetWatches, bytes.Join([][]byte{{0, 0, 0, 0, 0, 0, 0, zxid}, {0, 0, 0, 1}, text("/a"), {0, 0, 0, 0}, {0, 0, 0, 1}, text("/b")}, nil)...),
	}
}

var held = results([2]int32{OpCheck, 0}) // that the nodes relied on exist

// Requests may be sent when all that comes first is answered, which is reported once.
func TestWhatComesFirstOnAConnection(t *testing.T) {
	t.Parallel()
	var r recorder
	c := attaching(t, &r, answer(xidFirst, 0, 0), answer(xidFirst, 0, 0), answer(xidVouch, 7, 0, held...), happened(3, "/a"), answer(xidFirst, 8, 0), answer(number(1), 9, 0, text("/")...))
	greet(t, c)
	request, _ := connectFrames(17)
	require.Equal(t, append([][]byte{request}, first(xidVouch, 0)...), frames(t, unwritten(c)))
	for range 3 {
		readOne(t, c)
	}
	require.Empty(t, r.took())
	readOne(t, c)
	require.Equal(t, []string{"event 3 /a"}, r.took())
	readOne(t, c)
	require.Equal(t, []string{"attached"}, r.took())
	r.ask(t, c, 1, OpSync)
	require.ErrorIs(t, readAll(t, c), io.EOF)
	require.Equal(t, []string{"sent 1", "answer 1", "suspended"}, r.took())
}

func TestNothingMustComeFirst(t *testing.T) {
	t.Parallel()
	var r recorder
	_, reply := connectFrames(17)
	c := scripted(reply)
	r.listen(c.guard)
	c.guard.events.Attached = func(of *Conn) {
		require.Same(t, c, of)
		r.ask(t, c, 1, OpSync) // no lock is held
	}
	greet(t, c)
	require.Equal(t, []string{"sent 1"}, r.took())
	require.Len(t, frames(t, unwritten(c)), 2)
}

// A server that refuses to set watches has none of those. Who waits for an event learns
// that before requests may be sent.
func TestWatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	var r recorder
	c := attaching(t, &r, answer(xidFirst, 0, 0), answer(xidFirst, 0, 0), answer(xidVouch, 7, 0, held...), answer(xidFirst, 8, codeUnimplemented))
	greet(t, c)
	require.ErrorIs(t, readAll(t, c), io.EOF)
	require.Equal(t, []string{"watches lost", "attached", "suspended"}, r.took())
}

func TestACredentialThatIsRefused(t *testing.T) {
	t.Parallel()
	for second, want := range map[bool]string{
		false: `credential 1, scheme "digest": authentication refused`,
		true:  `credential 2, scheme "x509": authentication refused`,
	} {
		refusal := answer(xidFirst, 0, -115)
		var r recorder
		c := attaching(t, &r, refusal, refusal, answer(xidVouch, 7, 0, held...), answer(xidFirst, 8, 0))
		if second {
			c.read.Reset(io.MultiReader(bytes.NewReader(frameOf(connectFrames(17))), bytes.NewReader(answer(xidFirst, 0, 0)), bytes.NewReader(refusal)))
		}
		greet(t, c)
		err := readAll(t, c)
		require.ErrorIs(t, err, ErrAuthFailed)
		require.EqualError(t, err, want)
		require.Equal(t, []string{"refused: " + want, "suspended"}, r.took())
		require.Nil(t, c.guard.Live())
	}
}

func frameOf(_, reply []byte) []byte { return reply }

// A connection that ends before all is answered is never reported as attached, also if
// the answers have arrived. All is sent again on the next.
func TestAConnectionThatEndsBeforeAllIsAnswered(t *testing.T) {
	t.Parallel()
	answers := [][]byte{answer(xidFirst, 0, 0), answer(xidFirst, 0, 0), answer(xidVouch, 7, 0, held...), answer(xidFirst, 8, 0)}
	for n := range answers {
		var r recorder
		c := attaching(t, &r, answers...)
		greet(t, c)
		for range n {
			readOne(t, c)
		}
		require.NoError(t, c.Close())
		require.Error(t, readAll(t, c))
		require.Equal(t, []string{"suspended"}, r.took())

		answers[2] = answer(xidVouch-1, 7, 0, held...)
		next := again(t, c.guard, answers...)
		require.Equal(t, first(xidVouch-1, 0), frames(t, unwritten(next))[1:])
		require.ErrorIs(t, readAll(t, next), io.EOF)
		require.Equal(t, []string{"attached", "suspended"}, r.took())
		answers[2] = answer(xidVouch, 7, 0, held...)
	}
}

// Whoever sends something as soon as there is a session comes behind what comes first.
func TestNothingOvertakesWhatComesFirst(t *testing.T) {
	t.Parallel()
	for range 300 {
		var r recorder
		c := attaching(t, &r)
		g := c.guard
		g.events.IsOpen = func() bool { return true }
		senders := []func(){
			func() { g.Live().Send(OpSync, syncRecord, r.request(1)) },
			func() { g.makeRoundTrip(time.Now().Add(time.Hour)) },
			func() { g.checkVouch(time.Now().Add(time.Hour)) },
			func() { g.RemoveWatch(func() (IdleWatch, bool) { return IdleWatch{Path: "/idle"}, true }) },
		}
		var all sync.WaitGroup
		for _, send := range senders {
			all.Go(func() {
				for g.Live() == nil {
					time.Sleep(time.Nanosecond)
				}
				send()
			})
		}
		greet(t, c)
		all.Wait()
		sent := frames(t, unwritten(c))
		require.Equal(t, first(xidVouch, 0), sent[1:5])
		require.Len(t, sent, 5+len(senders)-1, "the check is under way already")
	}
}

// A connection is not live before nothing can be sent ahead of what comes first.
func TestAConnectionIsLiveUnderTheLockOfTheOrder(t *testing.T) {
	t.Parallel()
	var r recorder
	c := attaching(t, &r)
	request, reply := connectFrames(17)
	send(t, c, request)
	c.order.Lock()
	read := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, len(reply)))
		read <- err
	}()
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; time.Sleep(time.Millisecond) {
		assert.Nil(t, c.guard.Live())
	}
	c.order.Unlock()
	require.NoError(t, <-read)
	require.Same(t, c, c.guard.Live())
}

// What the server has not told must not be skipped: the check is answered before the
// watches are set, and a transaction of which one event has come may have fired others.
func TestWatchesAreSetAsOfTheNewestAnswer(t *testing.T) {
	t.Parallel()
	var r recorder
	event := answer(xidEvent, 90, 0, append([]byte{0, 0, 0, 3, 0, 0, 0, 3}, text("/a")...)...)
	before := bytes.Join([][]byte{answer(xidFirst, 0, 0), answer(xidFirst, 0, 0), answer(xidVouch, 7, 0, held...), answer(xidFirst, 8, 0)}, nil)
	c := attaching(t, &r, before, answer(number(1), 9, 0, text("/")...), answer(number(2), 70, codeNoNode), answer(number(3), 39, codeNoNode), answer(number(4), 40, 0))
	greet(t, c)
	r.ask(t, c, 1, OpSync, OpExists, OpExists, OpDelete)
	require.ErrorIs(t, readAll(t, c), io.EOF)

	for i, zxid := range []int64{75, 80} {
		xid := xidVouch - int32(i) - 1
		next := again(t, c.guard, answer(xidFirst, 0, 0), answer(xidFirst, 0, 0), answer(xid, zxid, 0, held...), event)
		sent := frames(t, unwritten(next))
		require.Equal(t, first(xid, 70), sent[1:])
		require.Equal(t, max(70, 90*int64(i)), be64(sent[0][8:]), "servers that have seen less are not attached to")
		require.ErrorIs(t, readAll(t, next), io.EOF)
	}
}
