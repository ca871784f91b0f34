package mutex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// Of very many leases, and of very many jobs, a node names the innermost: its data does
// not grow without bound.
func TestContendersOfVeryDeepNesting(t *testing.T) {
	const deep, most = 40, 4096
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		var sessions []int64
		for i := range int64(1000) {
			sessions = append(sessions, i)
		}
		ctx := queue.Within(t.Context(), sessions)
		var all []*lease.Lease
		var paths []string
		for i := range deep {
			lock, err := mutex.New(c, fmt.Sprintf("/locks/%s-%d", strings.Repeat("x", 150), i))
			require.NoError(t, err)
			held := w.StartWith(ctx, lock, time.Minute).Granted()
			ctx, all, paths = held.Context(), append(all, held), append(paths, held.Path()) //nolint:fatcontext // that is what is tested
			queued, err := lock.Contenders(t.Context())
			require.NoError(t, err)
			require.Len(t, queued, 1)

			want, length := slices.Clone(paths[:i]), 0
			slices.Reverse(want)
			for k, path := range want {
				if length += len(path); length > most {
					want = want[:k]
					break
				}
			}
			if len(want) == 0 {
				want = nil
			}
			require.Equal(t, want, queued[0].Holds)
			require.Equal(t, sessions[len(sessions)-len(queued[0].Within):], queued[0].Within)
			require.Greater(t, len(queued[0].Within), 100)
			require.Less(t, len(queued[0].Within), 1000)
			require.NotZero(t, queued[0].Holder.PID)
		}
		for _, held := range slices.Backward(all) {
			require.NoError(t, held.Release())
		}
	})
}

// What others write where a node says what it holds is no failure.
func TestContendersWithForeignData(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		lock := newMutex(t, c)
		held := w.Acquire(lock)
		for data, want := range map[string]lease.Contender{
			``:                             {},
			`10.0.0.7`:                     {},
			`[1]`:                          {},
			`{"holds":7}`:                  {},
			`{"holds":["/a"],"within":[]}`: {Holds: []string{"/a"}},
			`{"within":["0x1a","x","","0xffffffffffffffff","0x10000000000000000"]}`: {Within: []int64{0x1a, -1}},
		} {
			_, err := c.Set(t.Context(), held.Path(), []byte(data), -1)
			require.NoError(t, err)
			queued, err := lock.Contenders(t.Context())
			require.NoError(t, err)
			require.Len(t, queued, 1)
			require.Equal(t, want.Holds, queued[0].Holds, data)
			require.Equal(t, want.Within, queued[0].Within, data)
		}
		require.NoError(t, held.Release())
	})
}
