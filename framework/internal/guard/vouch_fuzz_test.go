package guard

import (
	"bytes"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// relyingOn makes work rely on nodes of a connection's session.
func relyingOn(t testing.TB, c *Conn, paths ...string) {
	t.Helper()
	c.guard.trust.rely(time.Now()) // also before the session is there
	c.guard.relied.add(relying(paths, func(int32) {}))
}

// An answer about nodes that a server was asked to check, in whatever pieces, neither
// crashes the guard nor blocks it.
func FuzzAnswerToAVouching(f *testing.F) {
	f.Add([]byte{}, byte(0))
	f.Add(answer(xidVouch, 5, 0, results([2]int32{OpCheck, 0}, [2]int32{OpCheck, 0})...), byte(1))
	f.Add(answer(xidVouch, 5, 0, results([2]int32{typeError, codeNoNode}, [2]int32{typeError, notTried})...), byte(2))
	f.Add(answer(xidVouch, 5, 0, results([2]int32{typeError, 0}, [2]int32{typeError, 0}, [2]int32{typeError, codeNoNode})...), byte(2))
	f.Add(append(answer(number(1), 5, 0, make([]byte, 20<<10)...), answer(xidVouch, 5, codeExpired)...), byte(2))
	f.Fuzz(func(t *testing.T, says []byte, pieces byte) {
		c := connected(t)
		c.read.Reset(bytes.NewReader(says))
		if pieces%2 == 1 {
			c.read.Reset(iotest.OneByteReader(bytes.NewReader(says)))
		}
		relyingOn(t, c, "/a", "/b")
		vouch(c)
		var r recorder
		r.ask(t, c, 1, OpMulti)
		_ = readAll(t, c)
		require.Equal(t, []string{"sent 1", "answer 1"}, r.took())
		require.Nil(t, c.guard.Live())
	})
}

// The answer to a multi that is too long to be inspected as a whole is judged by its
// beginning, and reaches the caller whole.
func TestAnswerToALargeMulti(t *testing.T) {
	t.Parallel()
	for name, first := range map[string][2]int32{"committed": {OpCheck, 0}, "failed": {typeError, codeNoNode}} {
		var ops [][2]int32
		for range 4000 {
			op := first
			if first[0] == typeError && len(ops) > 0 {
				op[1] = notTried
			}
			ops = append(ops, op)
		}
		large := answer(number(1), 5, 0, results(ops...)...)
		require.Greater(t, len(large), 2*readAhead)
		for _, pieces := range []bool{false, true} {
			c := connected(t)
			c.read.Reset(bytes.NewReader(large))
			if pieces {
				c.read.Reset(iotest.OneByteReader(bytes.NewReader(large)))
			}
			before := c.guard.trust.vouched
			time.Sleep(time.Millisecond)
			var r recorder
			r.ask(t, c, 1, OpMulti)
			readOne(t, c)
			require.Equal(t, Answer{Zxid: 5, Body: results(ops...)}, r.answer(1))
			require.Equal(t, name == "committed", c.guard.trust.vouched.After(before), name)
		}
	}
}
