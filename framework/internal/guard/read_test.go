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

// The caller of an answer that is too large gets its size, or its error code, and the
// reading goes on behind it, however the bytes come. The answer proves what it would
// prove.
func TestGuardRefusesLargeAnswers(t *testing.T) {
	t.Parallel()
	const limit = 1000
	large := make([]byte, 5*readAhead)
	stream := bytes.Join([][]byte{
		answer(number(1), 5, 0, text(strings.Repeat("/", 5*readAhead))...), answer(number(2), 6, codeNoNode, large...), answer(number(3), 7, -6, large...),
		answer(number(4), 8, 0, text("/a")...), answer(number(5), 9, 0, large[:limit-replyHeader]...), answer(number(6), 10, 0, large[:limit-replyHeader+1]...),
		answer(number(7), 11, 0, text("/b")...),
	}, nil)
	want := map[int]Answer{
		1: {Zxid: 5, Err: largeAnswer(replyHeader + 4 + 5*readAhead)}, 2: {Zxid: 6, Code: codeNoNode}, 3: {Zxid: 7, Code: -6},
		4: {Zxid: 8, Body: text("/a")}, 5: {Zxid: 9, Body: large[:limit-replyHeader]}, 6: {Zxid: 10, Err: largeAnswer(limit + 1)},
		7: {Zxid: 11, Body: text("/b")},
	}
	for _, pieces := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := connected(t)
			c.guard.cfg.MaxReplyBytes = limit
			<-time.After(time.Second)
			sent := time.Now()
			var r recorder
			r.ask(t, c, 1, OpCreate, OpGetData, OpContainer, OpCreate, OpGetData, OpGetData, OpSync)
			require.Len(t, r.took(), 7)
			<-time.After(time.Second)
			c.read.Reset(bytes.NewReader(stream))
			if pieces {
				c.read.Reset(iotest.OneByteReader(bytes.NewReader(stream)))
			}
			require.ErrorIs(t, readAll(t, c), io.EOF)
			require.Equal(t, want, r.answers)
			require.ErrorIs(t, r.answer(1).Err, ErrLargeAnswer)
			require.EqualError(t, r.answer(6).Err, "answer too large: 1001 bytes")
			require.Equal(t, []string{"answer 1", "answer 2", "answer 3", "answer 4", "answer 5", "answer 6", "answer 7"}, r.took())
			assert.Equal(t, sent, c.guard.trust.vouched)
			assert.EqualValues(t, 11, c.guard.zxid.Load())
			assert.False(t, c.inFrame)
			assert.Empty(t, c.sent)
		})
	}
}

// The caller of an answer that is malformed gets that, the connection ends, and what
// comes behind it reaches nobody.
func TestMalformedAnswersEndTheConnection(t *testing.T) {
	t.Parallel()
	for op, bodies := range malformed {
		for kind, body := range bodies {
			if checkAnswer(op, body) == nil {
				require.EqualValues(t, OpMulti, op, kind) // of nothing
				continue
			}
			c := connected(t, answer(number(1), 5, codeNoNode, body...), answer(number(2), 6, 0, body...), answer(number(3), 7, 0, text("/")...))
			var r recorder
			r.listen(c.guard)
			r.ask(t, c, 1, op, op, OpSync)
			require.ErrorIs(t, readAll(t, c), ErrMalformed, "%d, %s", op, kind)
			require.Equal(t, []string{"sent 1", "sent 2", "sent 3", "answer 1", "answer 2", "suspended", "answer 3"}, r.took())
			require.Equal(t, Answer{Zxid: 5, Code: codeNoNode, Body: append([]byte{}, body...)}, r.answer(1), "that of a refusal is not looked at")
			require.ErrorIs(t, r.answer(2).Err, ErrMalformed)
			require.Equal(t, Answer{Err: ErrConnectionClosed}, r.answer(3))
			require.ErrorContains(t, c.guard.Broken(), "answer to operation")
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
// ahead of the answer, whether or not the caller gets that frame.
func TestGuardCountsFromTheEndOfAFrame(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"handed over": 1 << 20, "refused": 1000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const waitLimit = 3 * time.Second
				c := connected(t)
				c.guard.cfg.MaxReplyBytes = limit
				var r recorder
				r.ask(t, c, 1, OpCreate, OpSync)
				began := time.Now()
				c.read.Reset(slowly{bytes.NewReader(answer(number(1), 5, 0, text(strings.Repeat("/", 5*readAhead))...))})
				readOne(t, c)
				require.Equal(t, name == "refused", r.answer(1).Err != nil)
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
		"an answer about a credential": answer(xidFirst, 5, 0, body...),
		"an answer to nothing":         answer(number(9), 5, 0, body...),
	} {
		c := connected(t, frame)
		c.guard.cfg.MaxReplyBytes = 1000
		c.guard.cfg.Auth = []Credential{{Scheme: "digest"}}
		require.True(t, c.post(ask(xidFirst, OpSetAuth)))
		relyingOn(t, c, "/a")
		vouch(c)
		send(t, c, ask(xidPing, OpPing))
		require.ErrorIs(t, readAll(t, c), ErrMalformed, name)
		require.Zero(t, c.guard.zxid.Load()&^5, name)
	}
}

// Memory is allocated as bytes arrive, whatever length a frame claims, and little of it
// is kept.
func TestGuardTakesMemoryAsBytesCome(t *testing.T) {
	const size = 12 << 20
	data := answer(number(1), 5, 0, append(text(strings.Repeat("x", size)), make([]byte, statBytes)...)...)
	taken := func(bytesCome int) (took, kept int) {
		c := connected(t, data[:bytesCome])
		require.True(t, c.Send(OpGetData, text("/a"), deaf{}))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Read(make([]byte, 1))
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, io.EOF)
		return int(after.TotalAlloc - before.TotalAlloc), cap(c.buffer)
	}
	for come, most := range map[int]int{100: 256 << 10, 100 << 10: 1 << 20, len(data): 2 * len(data)} {
		took, kept := taken(come)
		assert.Less(t, took, most, "%d bytes have come", come)
		assert.LessOrEqual(t, kept, keptBuffer)
	}
}
