package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Somebody gives a delay at a path whose users have none, and gets nothing. The users
// go on as before, at the latest when the server has removed empty containers.
func TestAContenderThatGetsNothingLeavesNoDelay(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		user, other := w.Client("user"), w.Client("other")
		held := w.Acquire(plain(t, user))
		wrong := w.Start(delayed(t, other), time.Second)
		require.Error(t, wrong.Failed())
		require.NoError(t, held.Release())
		w.After(time.Hour)
		next := w.Start(plain(t, user), time.Minute)
		require.NoError(t, next.Err, "the path stores the delay for ever")
		require.NoError(t, next.Granted().Release())
	})
}

// A container is removed, and made again, between the listing of a position and its
// record. Who came between and saw none is behind the position.
func TestAContenderWithoutADelayBehindOneThatHasOne(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		require.NoError(t, w.Acquire(delayed(t, a)).Release()) // it has had a child
		w.Server.On(zktest.OpMulti, path).Client("a").Before().Delay(800 * time.Millisecond)
		first := w.Start(delayed(t, a), time.Minute)
		w.Remove(w.Client("server"), dir) // what the server does with an empty container
		without := w.Start(plain(t, b), time.Minute)
		w.Start(delayed(t, c), time.Minute) // makes it again
		w.After(time.Second)
		if first.Waiting() {
			return
		}
		first.Granted()
		if !without.Waiting() {
			require.ErrorIs(t, without.Err, lease.ErrLockDelayMismatch)
			return
		}
		kill(w, "a", a)
		w.After(time.Second)
		require.True(t, without.Waiting(), "granted sooner than the delay after an unclean end")
	})
}

// A slot that was granted before there was a delay is handed over in memory, to a
// contender that obeys the delay which is stored now, while an end is recorded.
func TestAHandOverToAContenderThatObeys(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(plain(t, a))
		require.ErrorIs(t, w.Start(delayed(t, b), time.Second).Failed(), lease.ErrTimeout)
		_, err := b.Create(t.Context(), dir+"/_c_01234567-89ab-4def-8123-456789abcdef-lock-0000000000", nil, framework.Persistent)
		require.NoError(t, err)
		next := w.Start(plain(t, a), time.Hour)
		require.True(t, next.Waiting())
		require.NoError(t, held.Release())
		w.Settle()
		require.True(t, next.Waiting())
		released := time.Now()
		require.NoError(t, next.Granted().Release())
		require.Equal(t, delay, time.Since(released))
	})
}
