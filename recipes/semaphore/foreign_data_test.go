package semaphore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// store creates the path with that data, as another program would.
func store(t *testing.T, c *framework.Client, data string) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), path))
	_, err := c.Create(t.Context(), path, []byte(data), framework.Persistent)
	require.NoError(t, err)
}

// Data that is not a size is neither changed nor ignored: a client made with 3 permits
// and one made with 5 would not agree.
func TestForeignDataIsRefused(t *testing.T) {
	for _, data := range []string{
		"hello", "0010", "3", "10", "true", "\n\n\n\n", "7\r\n\t", "\u00e9\u00e9", "{}", "\x03", "\x00\x00\x03", "\x00\x00\x00\x00\x03", "10.0.0", "10.0.0.256", "10.0.0.1:2181",
		strings.Repeat("\x1b[2J\n", 2000),
	} {
		inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
			a := w.Client("a")
			store(t, a, data)
			s := make(a, 3)
			_, sizeErr := s.Size(t.Context())
			_, availableErr := s.Available(t.Context())
			for _, err := range []error{
				w.Start(s, 0).Failed(), w.Start(s, time.Hour).Failed(), w.Start(s.Weight(2), 0).Failed(), w.Start(s.Weight(2), time.Hour).Failed(),
				s.Resize(t.Context(), 2), sizeErr, availableErr,
			} {
				require.ErrorIs(t, err, lease.ErrForeignData, "%q", data)
				require.NotErrorIs(t, err, semaphore.ErrNoSize)
				require.ErrorContains(t, err, path)
				require.NotContains(t, err.Error(), "\n")
				require.Less(t, len(err.Error()), 400)
			}
			adopting := w.Start(make(a, 0), 0).Failed()
			require.ErrorIs(t, adopting, semaphore.ErrNoSize)
			require.ErrorIs(t, adopting, lease.ErrForeignData)
			list, err := s.Contenders(t.Context())
			require.NoError(t, err, "a look does no harm")
			require.Empty(t, list)
			w.Settle()
			require.Equal(t, data, string(stored(w)))
			require.Empty(t, contenders(w))
			_, err = a.Set(t.Context(), path, nil, framework.AnyVersion)
			require.NoError(t, err)
			release(w, w.Acquire(s))
			require.Equal(t, bytes(3), stored(w), "an empty path can be used")
		})
	}
}

func TestForeignDataIsShown(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a := w.Client("a")
		store(t, a, "0010")
		err := w.Start(make(a, 3), 0).Failed()
		require.EqualError(t, err, "acquire "+path+": the path stores data that is not the recipe's: \"0010\": "+
			"choose another path, or empty this one if no program needs that")
	})
}

// A path that other programs created without data stores no size: it is empty, or has
// the address of the client, which Curator writes then. The first to acquire stores a
// size, and all agree.
func TestPathsThatOthersMade(t *testing.T) {
	for _, data := range []string{"", "10.0.0.1", "2001:db8::7", "fe80:0:0:0:1:2:3:4%eth0", "::a1"} {
		inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
			a := w.Client("a")
			store(t, a, data)
			s, other := make(a, 2), make(w.Client("b"), 3)
			size, err := s.Size(t.Context())
			require.NoError(t, err)
			require.Equal(t, 2, size)
			require.Equal(t, data, string(stored(w)), "a look stores nothing")
			require.ErrorIs(t, w.Start(make(a, 0), 0).Failed(), semaphore.ErrNoSize)
			held := w.Acquire(s)
			require.Equal(t, bytes(2), stored(w))
			require.ErrorIs(t, w.Start(other, 0).Failed(), semaphore.ErrSizeMismatch)
			release(w, held)
			_, err = a.Set(t.Context(), path, []byte(data), framework.AnyVersion)
			require.NoError(t, err)
			require.NoError(t, s.Resize(t.Context(), 4))
			require.Equal(t, bytes(4), stored(w))
		})
	}
}

// A size whose bytes could be text is refused.
func TestSizesThatLookLikeText(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		s := newSemaphore(t, c, 1)
		for _, n := range []int{0x30303130, 0x09090909, 0x7e7e7e7e, 0x20202020} {
			_, err := semaphore.New(c, path, n)
			require.ErrorIs(t, err, framework.ErrInvalidArgument, n)
			require.ErrorIs(t, s.Resize(t.Context(), n), framework.ErrInvalidArgument, n)
		}
		for _, n := range []int{1, 10_000, 0x09090908, 500_000_000, 1 << 30, 2_000_000_000, 1<<31 - 1} {
			require.NoError(t, s.Resize(t.Context(), n), n)
			release(w, w.Acquire(newSemaphore(t, c, n)))
			size, err := newSemaphore(t, c, 0).Size(t.Context())
			require.NoError(t, err)
			require.Equal(t, n, size)
		}
	})
}
