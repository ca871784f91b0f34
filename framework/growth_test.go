package framework_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A session that lives for long, and uses many paths once, keeps nothing of them.
func TestASessionDoesNotGrowWithThePathsItUses(t *testing.T) {
	t.Parallel()
	contend := func(opts ...semaphore.Option) func(t *testing.T, c *framework.Client, path string) {
		return func(t *testing.T, c *framework.Client, path string) {
			s, err := semaphore.New(c, path, 2, opts...)
			require.NoError(t, err)
			held, err := s.Weight(2).Acquire(t.Context(), time.Second)
			require.NoError(t, err)
			_, err = s.Acquire(t.Context(), 30*time.Millisecond)
			require.Error(t, err)
			require.NoError(t, held.Release())
		}
	}
	for name, use := range map[string]func(t *testing.T, c *framework.Client, path string){
		"semaphore":    contend(),
		"single queue": contend(semaphore.WithSingleQueue()),
		"an election that does not exist": func(t *testing.T, c *framework.Client, path string) {
			e, err := leader.New(c, path, leader.WithID("x"))
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			for _, err := range e.Observe(ctx) {
				require.NoError(t, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				for i := range 300 {
					use(t, c, fmt.Sprintf("/%d", i))
				}
				kept(t, s, c, framework.IdleLimit)
				time.Sleep(timeout + timeout/12)
				kept(t, s, c, 0)
			})
		})
	}
}
