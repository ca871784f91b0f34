package framework_test

import (
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What is given to the session when a create was sent is behind it: one listing shows
// the nodes of all creates that were sent before.
func TestAListingBehindSeveralCreates(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		const many = 50
		shown := make(chan []string, 1)
		made := make(chan framework.Created, many)
		sent := 0 // always on the goroutine that writes
		for range many {
			go func() {
				node, err := kit.Of(p.Client).CreateSent(t.Context(), "/queue/n-", nil, framework.EphemeralSequential, func() {
					if sent++; sent == many {
						kit.Of(p.Client).GoChildren(t.Context(), "/queue", func(names []string, err error) {
							assert.NoError(t, err)
							shown <- names
						})
					}
				})
				assert.NoError(t, err)
				made <- node
			}()
		}
		names := <-shown
		for range many {
			assert.Contains(t, names, path.Base((<-made).Path))
		}
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: many, zktest.OpGetChildren2: 1}, requests(p.server))
	})
}

// Every attempt is told, and one that ends with its connection has nothing behind it.
func TestEveryAttemptOfACreateIsToldOf(t *testing.T) {
	for name, tc := range map[string]struct {
		fault func(r *zktest.Rule)
		sent  int
	}{
		"carried out at once":         {func(*zktest.Rule) {}, 1},
		"refused, it had no effect":   {func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) }, 2},
		"not carried out":             {func(r *zktest.Rule) { r.Cut() }, 2},
		"carried out, and then found": {func(r *zktest.Rule) { r.After().Cut() }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				tc.fault(p.server.On(zktest.OpCreate, ""))
				sent := 0
				made, err := kit.Of(p.Client).CreateSent(t.Context(), "/queue/n-", []byte("me"), framework.EphemeralSequential, func() { sent++ })
				require.NoError(t, err)
				p.only(t, made)
				assert.Equal(t, tc.sent, sent)
			})
		})
	}
}

func TestChildrenInAGoroutineOfTheSession(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		errs := make(chan error, 1)
		list := func() bool {
			return kit.Of(p.Client).GoChildren(t.Context(), "/queue", func(_ []string, err error) { errs <- err })
		}
		p.server.On(zktest.OpGetChildren2, "").Fail(zktest.ThrottledOp)
		require.True(t, list())
		require.ErrorIs(t, <-errs, framework.ErrThrottled, "it is not repeated")
		p.server.On(zktest.OpGetChildren2, "").Cut()
		require.True(t, list())
		require.ErrorIs(t, <-errs, framework.ErrUnknownOutcome, "nor then")
		require.NoError(t, p.Close())
		require.False(t, list())
		require.Empty(t, errs)
	})
}
