package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A reader that is slow to list the records finds that of one behind it, whose node is
// not ahead, but lives. Were it marked, the delay would be over before it has begun.
func TestAReaderBehindIsNotTakenForOneThatHasEnded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		require.NoError(t, w.Acquire(shared(t, w.Client("slow")).Read()).Release())
		late := w.Server.On(zktest.OpGetChildren2, path+"/lock-delay").Client("slow").Before().Delay(time.Second)
		slow := w.Start(shared(t, w.Client("slow")).Read(), time.Minute)
		<-late.Fired()
		behind := w.Acquire(shared(t, w.Client("behind")).Read())
		require.True(t, slow.Waiting())
		held := slow.Granted()
		require.Empty(t, marked(w, path))
		w.After(3 * delay)
		require.NoError(t, held.Release())

		w.Expire(w.Known("behind")) // without a release
		ended := time.Now()
		<-behind.Done()
		writer := w.Start(shared(t, w.Client("writer")).Write(), time.Hour)
		require.NoError(t, writer.Granted().Release())
		require.InDelta(t, delay, time.Since(ended), float64(time.Second))
	})
}

// A writer that becomes a reader makes a node ahead of the readers that wait, which do
// not list the queue again when they are admitted.
func TestADowngradedReaderIsNotTakenForOneThatHasEnded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		writer := shared(t, w.Client("writer"))
		writing := w.Acquire(writer.Write())
		waiting := w.Start(shared(t, w.Client("reader")).Read(), time.Hour)
		require.True(t, waiting.Waiting())
		reading, err := writer.Read().Acquire(writing.Context(), time.Second)
		require.NoError(t, err)
		require.NoError(t, writing.Release())
		other := waiting.Granted()
		require.Empty(t, marked(w, path))
		require.Len(t, w.Server.Children(path+"/lock-delay"), 2)
		w.After(3 * delay)
		require.NoError(t, other.Release())

		w.Expire(w.Known("writer"))
		ended := time.Now()
		<-reading.Done()
		require.NoError(t, w.Start(shared(t, w.Client("next")).Write(), time.Hour).Granted().Release())
		require.InDelta(t, delay, time.Since(ended), float64(time.Second))
	})
}

// There may be more holders that have ended than are looked at at once.
func TestManyHoldersEndAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		const holders = 150 // also more than one transaction removes
		l := shared(t, w.Client("holder"))
		for range holders {
			w.Acquire(l.Read())
		}
		w.Expire(w.Known("holder"))
		ended := time.Now()
		require.Len(t, w.Server.Children(path+"/lock-delay"), holders)
		require.ErrorIs(t, w.Start(shared(t, w.Client("a")).Write(), delay-time.Second).Failed(), lease.ErrLockDelay)
		require.Less(t, time.Since(ended), delay)
		next := shared(t, w.Client("b")).Write()
		held := w.Start(next, time.Hour).Granted()
		require.InDelta(t, 2*delay, time.Since(ended), 2*float64(time.Second))
		require.NoError(t, held.Release())
		w.After(3 * delay)
		for len(w.Server.Children(path+"/lock-delay")) > 0 { // the rest are old
			held := w.Start(next, 0).Granted()
			require.NoError(t, held.Release())
		}
	})
}
