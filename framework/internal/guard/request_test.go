package guard

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Wherever the server ends the connection: each request is answered once, and in order,
// with what has arrived as a whole, or with the end of the connection.
func TestAConnectionThatTheServerCutsOff(t *testing.T) {
	t.Parallel()
	answers := [][]byte{answer(number(1), 5, 0, text("/")...), answer(number(2), 6, 0, text(strings.Repeat("x", 60))...), answer(number(3), 7, codeNoNode)}
	all := bytes.Join(answers, nil)
	const limit = 50 // the second is larger
	for cut := range len(all) + 1 {
		for _, pieces := range []bool{false, true} {
			c := connected(t)
			c.guard.cfg.MaxReplyBytes = limit
			c.read.Reset(bytes.NewReader(all[:cut]))
			if pieces {
				c.read.Reset(iotest.OneByteReader(bytes.NewReader(all[:cut])))
			}
			var r recorder
			r.listen(c.guard)
			r.ask(t, c, 1, OpSync, OpCreate, OpDelete)
			require.ErrorIs(t, readAll(t, c), io.EOF)
			want := []Answer{{Zxid: 5, Body: text("/")}, {Zxid: 6, Err: largeAnswer(80)}, {Zxid: 7, Code: codeNoNode, Body: []byte{}}}
			for i, arrives := range []int{len(answers[0]), len(answers[0]) + frameHeader + replyHeader, len(all)} {
				if cut < arrives {
					want[i] = Answer{Err: ErrConnectionClosed}
				}
				require.Equal(t, want[i], r.answer(i+1), "%d after %d bytes", i+1, cut)
			}
			var order []string
			for _, entry := range r.took()[3:] {
				if entry != "suspended" {
					order = append(order, entry)
				}
			}
			require.Equal(t, []string{"answer 1", "answer 2", "answer 3"}, order)
			require.Empty(t, c.sent)
		}
	}
}

// Another goroutine may end the connection while an answer is given to its request, or
// while the session learns of an event. What has arrived behind it reaches nobody.
func TestAConnectionThatEndsDuringAnAnswer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *Conn){
		"drop":        func(c *Conn) { c.drop(errSilent) },
		"seal":        func(c *Conn) { c.guard.Seal() },
		"the session": func(c *Conn) { c.guard.events.Ended(ErrSessionExpired) },
	} {
		for _, large := range []bool{false, true} {
			c := connected(t, answer(number(1), 5, 0, text("/")...), answer(number(2), 6, 0, text("/")...), answer(xidFirst, 7, 0))
			if large {
				c.guard.cfg.MaxReplyBytes = 20
			}
			var r recorder
			r.listen(c.guard)
			during := r.request(1)
			during.answered = func(Answer) {
				ended := make(chan struct{})
				go func() {
					end(c)
					close(ended)
				}()
				<-ended
				assert.False(t, c.Send(OpSync, syncRecord, r.request(9)))
			}
			require.True(t, c.Send(OpSync, syncRecord, during))
			r.ask(t, c, 2, OpSync, OpSync)
			require.Error(t, readAll(t, c), name)
			require.Equal(t, []string{"sent 1", "sent 2", "sent 3", "answer 1", "suspended", "answer 2", "answer 3"}, r.took(), name)
			require.Equal(t, large, r.answer(1).Err != nil)
			require.Equal(t, Answer{Err: ErrConnectionClosed}, r.answer(2))
			require.Equal(t, Answer{Err: ErrConnectionClosed}, r.answer(3))
		}
	}
}

// The rest of an answer whose header has arrived may never come.
func TestAConnectionThatEndsInsideAnAnswer(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{10, 1000} {
		c := connected(t)
		c.guard.cfg.MaxReplyBytes = limit
		server, says := io.Pipe()
		c.read.Reset(server)
		var r recorder
		r.ask(t, c, 1, OpCreate, OpSync)
		read := make(chan error)
		go func() {
			_, err := c.Read(make([]byte, 1))
			read <- err
		}()
		_, err := says.Write(answer(number(1), 5, 0, text("/a")...)[:22])
		require.NoError(t, err)
		large := limit < 100
		for isRead := false; !isRead; runtime.Gosched() { // the header
			c.mu.Lock()
			isRead = len(c.sent) == 1 && (c.answering == nil) == large
			c.mu.Unlock()
		}
		c.drop(errSilent)
		require.Equal(t, ErrConnectionClosed, r.answer(2).Err, "at once")
		says.CloseWithError(io.ErrUnexpectedEOF)
		require.ErrorIs(t, <-read, io.ErrUnexpectedEOF)
		require.ElementsMatch(t, []string{"sent 1", "sent 2", "answer 1", "answer 2"}, r.took())
		require.Equal(t, large, errors.Is(r.answer(1).Err, ErrLargeAnswer))
	}
}

// After our close request nothing is sent. What was sent before is answered before, or
// when the answer to the close request has ended the connection.
func TestRequestsAroundTheCloseRequest(t *testing.T) {
	t.Parallel()
	c := connected(t, answer(number(1), 5, 0, text("/")...), answer(xidClose, 6, 0), answer(number(2), 7, 0, text("/")...))
	var r recorder
	r.ask(t, c, 1, OpSync, OpSync)
	require.True(t, c.post(closeRequest()))
	require.False(t, c.Send(OpSync, syncRecord, r.request(3)))
	require.ErrorIs(t, readAll(t, c), errCloseAnswered)
	require.True(t, c.guard.closed.Given())
	require.NoError(t, c.guard.Broken(), "as it should")
	require.Equal(t, []string{"sent 1", "sent 2", "answer 1", "answer 2"}, r.took())
	require.Equal(t, ErrConnectionClosed, r.answer(2).Err)
	require.Len(t, frames(t, unwritten(c)), 3)
}

// However the end of a connection, answers and requests meet: what is sent is answered
// once, and what is not sent never.
func TestRequestsWhileAConnectionEnds(t *testing.T) {
	t.Parallel()
	const senders, each = 4, 20
	for range 200 {
		c := connected(t)
		var says []byte
		for n := range senders * each / 2 {
			says = append(says, answer(number(n+1), 5, codeNoNode)...)
		}
		c.read.Reset(bytes.NewReader(says))
		var answered [senders * each]atomic.Int32
		var sent [senders * each]bool
		var asked atomic.Int32
		var all sync.WaitGroup
		var r recorder
		for s := range senders {
			all.Go(func() {
				for i := s * each; i < (s+1)*each; i++ {
					request := r.request(i)
					request.answered = func(Answer) { answered[i].Add(1) }
					sent[i] = c.Send(OpExists, text("/a"), request)
					asked.Add(1)
				}
			})
		}
		all.Go(func() {
			for asked.Load() < senders*each/2 {
				runtime.Gosched()
			}
			_, _ = c.Read(make([]byte, 1))
		})
		all.Go(func() { _ = c.Close() })
		all.Wait()
		for i := range sent {
			want := map[bool]int32{true: 1}[sent[i]]
			require.Equal(t, want, answered[i].Load())
		}
	}
}

// The numbers of requests begin again after the last. None is that of a request in
// flight, and none is one of the library or the guard.
func TestNumbersOfRequests(t *testing.T) {
	t.Parallel()
	c := connected(t)
	c.guard.xids.Store(firstXid - 3)
	var r recorder
	r.ask(t, c, 1, OpSync, OpSync, OpSync, OpSync)
	var got []int32
	for _, frame := range frames(t, unwritten(c)) {
		require.Equal(t, ask(be32(frame[4:]), OpSync, text("/a")...), frame)
		got = append(got, be32(frame[4:]))
	}
	require.Equal(t, []int32{math.MaxInt32 - 1, math.MaxInt32, 1 << 30, 1<<30 + 1}, got)
	c.guard.xids.Store(math.MaxUint32 - 1)
	for _, want := range []int32{math.MaxInt32, 1 << 30} {
		require.Equal(t, want, c.guard.nextXid())
	}
}

// What was answered is not kept: a record may be large.
func TestAnsweredRequestsAreForgotten(t *testing.T) {
	t.Parallel()
	c := connected(t, answer(number(3), 5, codeNoNode), answer(number(1), 5, codeNoNode), answer(number(2), 5, codeNoNode))
	var r recorder
	r.ask(t, c, 1, OpSync, OpSync, OpSync)
	for range 3 {
		readOne(t, c)
	}
	for _, f := range c.room[:cap(c.room)] {
		require.Nil(t, f.request)
	}
	require.Len(t, r.answers, 3)
}
