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

// What is sent when a create was sent is behind it: one listing shows the nodes of all
// creates that were sent before. In one round that may also come about by chance.
func TestAListingBehindSeveralCreates(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		for range 4 {
			p.server.ResetCounts()
			listBehindCreates(t, p)
		}
	})
}

func listBehindCreates(t *testing.T, p place) {
	t.Helper()
	const many = 50
	pinned := p.In(p.Session())
	shown := make(chan []string, 1)
	made := make(chan framework.Created, many)
	sent := 0 // always under the lock of the connection
	for range many {
		go func() {
			last := false
			node, err := kit.Of(p.Client).CreateSent(t.Context(), "/queue/n-", nil, framework.EphemeralSequential, func() {
				sent++
				last = sent == many
			}, func() {
				if last {
					assert.True(t, kit.Of(pinned).SendChildren("/queue", func(names []string, err error) {
						assert.NoError(t, err)
						shown <- names
					}))
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
				var told []string
				tells := func(what string) func() { return func() { told = append(told, what) } }
				made, err := kit.Of(p.Client).CreateSent(t.Context(), "/queue/n-", []byte("me"), framework.EphemeralSequential, tells("sent"), tells("behind"))
				require.NoError(t, err)
				p.only(t, made)
				want := []string{"sent", "behind", "sent", "behind"}
				assert.Equal(t, want[:2*tc.sent], told)
			})
		})
	}
}
