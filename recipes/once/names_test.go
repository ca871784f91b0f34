package once_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// Any text is a key, and each has a record of its own.
func TestKeys(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		long := strings.Repeat("x", 200)
		keys := []string{
			"", ".", "..", "/", "a/b", "a%2Fb", "%", "ä", "\xff", "\x00", "\n", "\u202e", "a", "A", "a b", "a.key", ".key", "done", "zookeeper",
			"lock-0000000001", "_c_60089ad3-bc74-4b90-aa26-9f9155640cdd-lock-0000000000", "2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z.tick",
			long[:92], long[:93], long, long + "x", "x" + strings.Repeat("/", 90), strings.Repeat("é", 40),
		}
		for _, key := range keys {
			begun := 0
			for range 2 {
				require.NoError(t, j.Do(t.Context(), key, begins(&begun)), "%q", key)
			}
			require.Equal(t, 1, begun, "%q", key)
			record, err := j.Key(key).Recorded(t.Context())
			require.NoError(t, err)
			require.Equal(t, strings.ToValidUTF8(key, "\ufffd"), record.Key)
		}
		names := w.Server.Children(done)
		require.Len(t, names, len(keys))
		require.LessOrEqual(t, len(slices.MaxFunc(names, func(a, b string) int { return len(a) - len(b) })), 96)
	})
}

// A tick is a moment, whatever the time zone, and a key that looks like one is none.
func TestTicks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		at := time.Now()
		require.NoError(t, j.Tick(at).Do(t.Context(), nothing))
		require.ErrorIs(t, w.Start(j.Tick(at.In(time.FixedZone("east", 3600))), 0).Failed(), once.ErrRecorded)
		for _, other := range []*once.Run{j.Tick(at.Add(1)), j.Key(at.UTC().Format(time.RFC3339Nano)), j.Key(at.UTC().Format(time.RFC3339Nano) + ".tick")} {
			record, err := other.Recorded(t.Context())
			require.NoError(t, err)
			require.Nil(t, record)
		}
		for _, none := range []time.Time{
			{}, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("west", -7200)),
		} {
			require.ErrorIs(t, j.Tick(none).Do(t.Context(), nothing), framework.ErrInvalidArgument)
		}
		require.NoError(t, j.Tick(time.Date(9999, 1, 1, 0, 0, 0, 1, time.UTC)).Do(t.Context(), nothing))
	})
}

func TestArguments(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		_, err := once.New(c, path, once.WithRetention(time.Minute-1))
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		require.ErrorIs(t, newJob(t, c, once.WithRetention(time.Minute)).Do(t.Context(), "a", nil), framework.ErrInvalidArgument)
	})
}
