package guard

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In place of an answer that is too large the library reads its size, or its error
// code, and goes on with the next answer, however the bytes come and are read. The
// answer proves what it would prove.
func TestGuardRefusesLargeAnswers(t *testing.T) {
	t.Parallel()
	const limit = 1000
	large := make([]byte, 5*readAhead)
	stream := bytes.Join([][]byte{
		answer(1, 5, 0, text(strings.Repeat("/", 5*readAhead))...), answer(2, 6, codeNoNode, large...), answer(3, 7, -6, large...),
		answer(4, 8, 0, text("/a")...), answer(5, 9, 0, large[:limit-replyHeader]...), answer(6, 10, 0, large[:limit-replyHeader+1]...),
		answer(7, 11, 0, text("/b")...),
	}, nil)
	want := bytes.Join([][]byte{
		answer(1, 5, replyHeader+4+5*readAhead), answer(2, 6, codeNoNode), answer(3, 7, -117),
		answer(4, 8, 0, text("/a")...), answer(5, 9, 0, large[:limit-replyHeader]...), answer(6, 10, limit+1),
		answer(7, 11, 0, text("/b")...),
	}, nil)
	for _, pieces := range []bool{false, true} {
		for _, size := range []int{1, 3, 20, 1 << 20} {
			synctest.Test(t, func(t *testing.T) {
				c, _ := connected(t)
				c.guard.cfg.MaxReplyBytes = limit
				<-time.After(time.Second)
				sent := time.Now()
				send(t, c, ask(1, opCreate, text("/")...), ask(2, opGetData), ask(3, opContainer, text("/")...), ask(4, opCreate, text("/a")...),
					ask(5, opGetData), ask(6, opGetData), ask(7, opSync))
				<-time.After(time.Second)
				c.read.Reset(bytes.NewReader(stream))
				if pieces {
					c.read.Reset(iotest.OneByteReader(bytes.NewReader(stream)))
				}
				var got []byte
				var err error
				for buf := make([]byte, size); err == nil; {
					var n int
					n, err = c.Read(buf)
					got = append(got, buf[:n]...)
				}
				require.ErrorIs(t, err, io.EOF)
				require.Equal(t, want, got)
				assert.Equal(t, sent, c.guard.trust.vouched)
				assert.EqualValues(t, 8, c.guard.TakeZxid("/a"))
				assert.Empty(t, c.guard.creates.zxids, "no caller will ask for what was refused")
				assert.EqualValues(t, 11, c.guard.zxid.Load())
				assert.False(t, c.inFrame)
				assert.Empty(t, c.sent)
			})
		}
	}
}

// slowly is a reader that returns 5 kB each second.
type slowly struct{ io.Reader }

func (r slowly) Read(p []byte) (int, error) {
	<-time.After(time.Second)
	return r.Reader.Read(p[:min(len(p), 5000)])
}

// The time that a server takes to ask its leader counts from the end of a slow frame
// ahead of the answer, whether or not the library gets that frame.
func TestGuardCountsFromTheEndOfAFrame(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"handed over": 1 << 20, "refused": 1000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const waitLimit = 3 * time.Second
				c, _ := connected(t)
				c.guard.cfg.MaxReplyBytes = limit
				send(t, c, ask(1, opCreate, text("/")...), ask(2, opSync))
				began := time.Now()
				c.read.Reset(slowly{bytes.NewReader(answer(1, 5, 0, text(strings.Repeat("/", 5*readAhead))...))})
				_, err := c.Read(make([]byte, 1))
				require.NoError(t, err)
				require.NoError(t, c.discard(), "where there is something left")
				now := time.Now()
				require.Greater(t, now.Sub(began), 3*waitLimit)
				require.False(t, c.inFrame)
				assert.False(t, c.leaderless(now, waitLimit))
				assert.False(t, c.leaderless(now.Add(waitLimit-1), waitLimit))
				assert.True(t, c.leaderless(now.Add(waitLimit), waitLimit))
			})
		})
	}
}

// A frame that is too large and answers no request of a caller breaks the connection.
func TestGuardTakesNothingLargeWithoutARequest(t *testing.T) {
	t.Parallel()
	body := make([]byte, 2000)
	for name, frame := range map[string][]byte{
		"an event":                     answer(xidEvent, 0, 0, body...),
		"a pong":                       answer(xidPing, 0, 0, body...),
		"an answer to a vouching":      answer(xidVouch, 0, 0, body...),
		"an answer about watches":      answer(1, 5, 0, body...),
		"an answer about a credential": answer(2, 5, 0, body...),
		"an answer to nothing":         answer(9, 5, 0, body...),
	} {
		c, _ := connected(t, frame)
		c.guard.cfg.MaxReplyBytes = 1000
		send(t, c, ask(1, opSetWatches), ask(2, opSetAuth), ask(xidPing, opPing), ask(xidVouch, opMulti))
		n, err := c.Read(make([]byte, 100))
		require.ErrorIs(t, err, errShortFrame, name)
		require.Zero(t, n, name)
		require.Zero(t, c.guard.zxid.Load()&^5, name)
	}
}

// Memory is allocated as bytes arrive, whatever length a frame claims, and little of it
// is kept.
func TestGuardTakesMemoryAsBytesCome(t *testing.T) {
	const size = 12 << 20
	data := answer(1, 5, 0, append(text(strings.Repeat("x", size)), make([]byte, statBytes)...)...)
	taken := func(bytesCome int) (took, kept int) {
		c, _ := connected(t, data[:bytesCome])
		send(t, c, ask(1, opGetData))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := io.Copy(io.Discard, c)
		runtime.ReadMemStats(&after)
		require.NoError(t, err, "the end")
		require.Nil(t, c.frame)
		return int(after.TotalAlloc - before.TotalAlloc), cap(c.buffer)
	}
	for come, most := range map[int]int{100: 256 << 10, 100 << 10: 1 << 20, len(data): 2 * len(data)} {
		took, kept := taken(come)
		assert.Less(t, took, most, "%d bytes have come", come)
		assert.LessOrEqual(t, kept, keptBuffer)
	}
}
