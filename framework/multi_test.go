package framework_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMultiDoesAllOrNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.Namespace = "ns" })
		results, err := c.Multi(t.Context(),
			framework.CreateOp("/a", []byte("1"), framework.Persistent),
			framework.CreateOp("/a/n-", nil, framework.EphemeralSequential),
			framework.SetOp("/a", []byte("two"), 0),
			framework.CheckOp("/a", 1),
			framework.CheckOp("/a", framework.AnyVersion),
			framework.CreateOp("/b", nil, framework.Persistent, framework.WithACL(framework.WorldACL(framework.PermRead))),
			framework.DeleteOp("/b", 0))
		require.NoError(t, err)
		require.Len(t, results, 7)
		assert.Equal(t, "/a", results[0].Path)
		assert.Equal(t, "/a/n-0000000000", results[1].Path)
		assert.EqualValues(t, 1, results[2].Stat.Version)
		assert.EqualValues(t, 3, results[2].Stat.DataLength)
		for _, r := range results {
			assert.NoError(t, r.Err)
		}
		before := s.Zxid()
		results, err = c.Multi(t.Context(),
			framework.SetOp("/a", []byte("three"), 1),
			framework.CheckOp("/a", 17),
			framework.DeleteOp("/missing", 0))
		require.ErrorIs(t, err, framework.ErrBadVersion)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
		assert.Contains(t, err.Error(), "multi: ops[1]: check /a: version does not match")
		var multi *framework.MultiError
		require.ErrorAs(t, err, &multi)
		assert.Equal(t, 1, multi.Index)
		var op *framework.OpError
		require.ErrorAs(t, err, &op)
		assert.Equal(t, framework.OpError{Op: "check", Path: "/a", Session: c.Session().ID(), Outcome: framework.Failed, Err: framework.ErrBadVersion}, *op)
		require.Len(t, results, 3)
		assert.NoError(t, results[0].Err)
		assert.Zero(t, results[0].Stat, "it was rolled back")
		assert.ErrorIs(t, results[1].Err, framework.ErrBadVersion)
		assert.ErrorIs(t, results[2].Err, framework.ErrNotTried)
		data, _, err := c.Get(t.Context(), "/a")
		require.NoError(t, err)
		assert.Equal(t, "two", string(data))
		assert.LessOrEqual(t, s.Zxid(), before+1)
	})
}

func TestMultiRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.ResetCounts()
		for want, op := range map[error]framework.Op{
			framework.ErrInvalidPath:     framework.DeleteOp("relative", 0),
			framework.ErrInvalidACL:      framework.CreateOp("/a", nil, framework.Persistent, framework.WithACL([]framework.ACL{{Perms: 1, Scheme: "wrold", ID: "anyone"}})),
			framework.ErrInvalidArgument: framework.CreateOp("/a", nil, framework.Container),
			framework.ErrTooLarge:        framework.SetOp("/a", make([]byte, 1<<20), 0),
		} {
			_, err := c.Multi(t.Context(), framework.CheckOp("/", -1), op)
			require.ErrorIs(t, err, want)
			assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
			if want != framework.ErrTooLarge { //nolint:errorlint // the key of the table
				var multi *framework.MultiError
				require.ErrorAs(t, err, &multi)
				assert.Equal(t, 1, multi.Index)
			}
		}
		_, err := c.Multi(t.Context(), framework.CreateOp("/a", nil, framework.Persistent, framework.WithTTL(time.Minute)))
		assert.ErrorIs(t, err, framework.ErrInvalidArgument)
		_, err = c.Multi(t.Context(), framework.Op{})
		assert.ErrorContains(t, err, "multi: ops[0]: empty operation")
		assert.Empty(t, requests(s))
		_, err = c.Multi(t.Context())
		assert.NoError(t, err, "nothing to do is done")
	})
}

// No single operation is the reason of an unknown outcome.
func TestMultiWhoseAnswerIsDroppedIsNoMultiError(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.On(zktest.OpMulti, "").After().Cut()
		results, err := c.Multi(t.Context(), framework.SetOp("/", nil, framework.AnyVersion))
		var multi *framework.MultiError
		assert.NotErrorAs(t, err, &multi)
		assert.Equal(t, framework.Unknown, framework.OutcomeOf(err))
		assert.Empty(t, results)
	})
}

// The sum counts, not each part.
func TestMultiThatIsTooLargeAsAWhole(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.ResetCounts()
		var ops []framework.Op
		for range 20 {
			ops = append(ops, framework.SetOp("/a", make([]byte, 64<<10), 0))
		}
		_, err := c.Multi(t.Context(), ops...)
		require.ErrorIs(t, err, framework.ErrTooLarge)
		assert.Empty(t, requests(s))
	})
}

// A bool that falls on the very end of the library's buffer crashed the process.
func TestRequestsOfEverySizeAroundTheLimit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.MaxRequestBytes = 2000 })
		_, err := c.Create(t.Context(), "/a", nil, framework.Persistent)
		require.NoError(t, err)
		refused := 0
		for size := 1600; size < 2100; size++ {
			data := make([]byte, size)
			_, err := c.Multi(t.Context(), framework.SetOp("/a", data, -1), framework.CheckOp("/a", -1))
			if err != nil {
				require.ErrorIs(t, err, framework.ErrTooLarge)
				refused++
			}
			if _, err = c.Set(t.Context(), "/a", data, -1); err != nil {
				require.ErrorIs(t, err, framework.ErrTooLarge)
				assert.Contains(t, err.Error(), "/a")
				refused++
			}
			if _, err = c.Create(t.Context(), "/b", data, framework.Persistent); err == nil {
				require.NoError(t, c.Delete(t.Context(), "/b", -1))
				continue
			}
			require.ErrorIs(t, err, framework.ErrTooLarge)
			refused++
		}
		assert.Positive(t, refused)
		assert.Equal(t, 1, s.Count(zktest.OpConnect), "no connection broke because of it")
	})
}

// The largest request that is let through by default is one that servers take.
func TestLargestRequestIsAcceptedByTheServer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		made, err := c.Create(t.Context(), "/a", make([]byte, framework.DefaultMaxRequestBytes-200), framework.Persistent)
		require.NoError(t, err)
		_, _, err = c.Get(t.Context(), made.Path)
		require.NoError(t, err)
		_, err = c.Create(t.Context(), "/"+strings.Repeat("x", 100<<10), nil, framework.Persistent)
		require.NoError(t, err, "a long path is a path")
		_, err = c.SetACL(t.Context(), "/a", manyACLs(40_000), framework.AnyVersion)
		require.ErrorIs(t, err, framework.ErrTooLarge)
		assert.Equal(t, 1, s.Count(zktest.OpConnect))
	})
}

func manyACLs(n int) []framework.ACL {
	acl := make([]framework.ACL, n)
	for i := range acl {
		acl[i] = framework.ACL{Perms: framework.PermAll, Scheme: "digest", ID: "somebody:0123456789abcdefghij"}
	}
	return acl
}

// A transaction that only reads may be repeated.
func TestMultiOfChecksIsRepeatedAsAReadIs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.Namespace = "ns" })
		other, err := c.Namespace("other")
		require.NoError(t, err)
		s.On(zktest.OpMulti, "").After().Cut()
		_, err = other.Multi(t.Context(), kit.Of(c).CheckExists("/", nil))
		require.NoError(t, err, "the path is that of the view that made the check")
		_, err = other.Multi(t.Context(), kit.Of(c).CheckExists("/missing", nil))
		require.ErrorIs(t, err, framework.ErrNoNode)
		assert.Contains(t, err.Error(), "/ns/missing")
	})
}
