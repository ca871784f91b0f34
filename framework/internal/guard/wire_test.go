package guard

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In whatever pieces the bytes come and are read: each request gets its answer, events
// and answers come in order, and the library gets its connect reply and no more.
func TestAnswersReachTheirRequests(t *testing.T) {
	t.Parallel()
	request, reply := connectFrames(7)
	large := append(text(strings.Repeat("\xff", 300_000)), make([]byte, statBytes+2)...)
	stream := bytes.Join([][]byte{
		reply, answer(number(1), 5, -6, 1, 2, 3), answer(number(2), 6, codeNoNode), happened(3, "/b"), answer(number(3), 7, -127),
		answer(xidPing, 8, 0), answer(number(4), 9, 0, large...), happened(2, "/a"), answer(number(5), 10, 0, text("/a0000000001")...),
	}, nil)
	for _, pieces := range []bool{false, true} {
		for _, size := range []int{1, 3, 4, 17, 1000, 1 << 20} {
			c := scripted(stream)
			if pieces {
				c.read.Reset(iotest.OneByteReader(bytes.NewReader(stream)))
			}
			var r recorder
			r.listen(c.guard)
			send(t, c, request)
			var got []byte
			for len(got) < len(reply) {
				buf := make([]byte, size)
				n, err := c.Read(buf)
				require.NoError(t, err)
				got = append(got, buf[:n]...)
			}
			require.Equal(t, reply, got)
			r.ask(t, c, 1, OpGetData, OpExists, OpDelete)
			send(t, c, ask(xidPing, OpPing))
			r.ask(t, c, 4, OpGetData, OpCreate)
			require.ErrorIs(t, readAll(t, c), io.EOF)
			require.Equal(t, []string{
				"attached", "sent 1", "sent 2", "sent 3", "sent 4", "sent 5",
				"answer 1", "answer 2", "event 3 /b", "answer 3", "answer 4", "event 2 /a", "answer 5", "suspended",
			}, r.took())
			require.Equal(t, map[int]Answer{
				1: {Zxid: 5, Code: -6, Body: []byte{1, 2, 3}}, 2: {Zxid: 6, Code: codeNoNode, Body: []byte{}}, 3: {Zxid: 7, Code: -127, Body: []byte{}},
				4: {Zxid: 9, Body: large}, 5: {Zxid: 10, Body: text("/a0000000001")},
			}, r.answers)
		}
	}
}

// Nothing is sent after the connection has ended, and no write ever fails: the library
// deadlocks on some that do.
func TestGuardSwallowsWritesToADeadConnection(t *testing.T) {
	t.Parallel()
	var r recorder
	c := connected(t)
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "twice")
	send(t, c, ask(1, OpCreate, text("/a")...), ask(xidPing, OpPing))
	assert.False(t, c.Send(OpSync, syncRecord, r.request(1)))
	assert.Empty(t, unwritten(c))

	c = connected(t)
	over := closeRequest()
	require.True(t, c.post(over))
	send(t, c, ask(1, OpCreate, text("/a")...), ask(xidPing, OpPing))
	assert.False(t, c.Send(OpSync, syncRecord, r.request(2)))
	assert.False(t, c.post(over))
	assert.Equal(t, over, unwritten(c), "nothing comes after the close request")
	require.NoError(t, c.Close())
	assert.Empty(t, r.took(), "what is not sent is not answered")
}

func TestGuardRefusesASecondSession(t *testing.T) {
	t.Parallel()
	for id, want := range map[int64]error{0: ErrSessionExpired, 8: ErrSessionReplaced} {
		request, reply := connectFrames(id)
		c := scripted(reply)
		c.guard.id = 7
		send(t, c, request)
		require.ErrorIs(t, readAll(t, c), want)
		assert.Error(t, c.guard.ctx.Err(), "it is over")
	}
}

func FuzzGuardReadsAnything(f *testing.F) {
	request, reply := connectFrames(7)
	f.Add([]byte{})
	f.Add(reply)
	f.Add(append(bytes.Clone(reply), answer(number(1), 5, 0, text("/a")...)...))
	f.Add(append(bytes.Clone(reply), answer(number(1), 5, -6)...))
	f.Add(append(bytes.Clone(reply), answer(number(1), 5, 0, 0xff, 0xff, 0xff, 0xff)...))
	f.Add(append(bytes.Clone(reply), answer(number(1), 5, 0, make([]byte, 2000)...)...))
	f.Add(append(bytes.Clone(reply), answer(xidClose, 5, 0)...))
	f.Add(append(bytes.Clone(reply), append(happened(1, "/a"), answer(xidFirst, 5, -4)...)...))
	f.Add(append(bytes.Clone(reply), answer(xidFirst, 5, 0)...))
	f.Add(framed(nil))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, says []byte) {
		c := scripted(says)
		c.guard.cfg.MaxReplyBytes = 1000
		c.guard.cfg.Auth = []Credential{{Scheme: "digest"}}
		c.guard.events.Watched = func() Watched { return Watched{Data: []string{"/a"}} }
		send(t, c, request)
		var r recorder
		asked, total := false, 0
		for buf := make([]byte, 64); ; {
			n, err := c.Read(buf)
			total += n
			if err != nil {
				break
			}
			require.Positive(t, n, "no progress")
			if !asked {
				r.ask(t, c, 1, OpCreate, OpSync)
				send(t, c, ask(xidPing, OpPing))
				r.ask(t, c, 3, OpGetData)
				asked = true
			}
		}
		require.LessOrEqual(t, total, min(len(says), frameHeader+1<<10), "more than the connect reply")
		if asked {
			log := r.took()
			require.Len(t, log, 6, "each is sent and answered once")
			require.Len(t, r.answers, 3)
		}
	})
}

func FuzzFramesOfTheLibrary(f *testing.F) {
	f.Add(ask(1, OpCreate, text("/a")...))
	f.Add(ask(1, OpCreate, 0xff, 0xff, 0xff, 0xff))
	f.Add(ask(xidClose, OpClose))
	f.Add([]byte{0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, frame []byte) {
		if r, err := parseConnectReply(frame); err == nil && len(r.password) > len(frame) {
			t.Fatal("a password that is not in the reply")
		}
		send(t, scripted(nil), frame)
		c := connected(t)
		send(t, c, frame)
		require.Equal(t, frame, append([]byte{}, unwritten(c)...))
	})
}
