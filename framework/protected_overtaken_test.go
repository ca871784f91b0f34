package framework

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// A create that was given up may not even have been handed to the library yet, because
// the scheduler did not come to it, when the search for its node has found none and is
// over. Whatever then becomes of it, no node stays.
func TestCreateThatTheSearchForItsNodeHasOvertakenLeavesNothing(t *testing.T) {
	t.Parallel()
	creates := map[zktest.Op]func(ctx context.Context, c *Client) error{
		zktest.OpCreate: func(ctx context.Context, c *Client) error {
			_, err := c.CreateProtected(ctx, "/queue/n-", nil, EphemeralSequential)
			return err
		},
		zktest.OpMulti: func(ctx context.Context, c *Client) error {
			_, err := recipeView{c}.CreateProtectedAll(ctx, "/queue/n-", nil, 3)
			return err
		},
	}
	faults := map[string]func(*zktest.Rule){
		"answered": nil,
		"lost":     func(r *zktest.Rule) { r.After().Cut() },
		"refused":  func(r *zktest.Rule) { r.Fail(zktest.NoAuth) },
	}
	for op, create := range creates {
		for how, strike := range faults {
			t.Run(op.String()+", "+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
					cleaned := make(chan error, 10)
					c, err := Connect(t.Context(), Config{
						Servers: []string{s.Addr()}, Dial: s.Dial("client"), Logger: slog.New(slog.DiscardHandler),
						Observers: []Observer{{CleanupEnded: func(_ string, err error) { cleaned <- err }}},
					})
					require.NoError(t, err)
					defer c.Close()
					require.NoError(t, c.CreateParents(t.Context(), "/queue/n-"))
					session := c.Session()
					ctx, cancel := context.WithCancel(t.Context())
					returned := make(chan error, 1)
					session.quota.mu.Lock() // where the create stops
					go func() { returned <- create(ctx, c) }()
					for len(session.slots) == 0 {
						runtime.Gosched()
					}
					cancel()
					require.ErrorIs(t, <-returned, ErrUnknownOutcome)
					require.NoError(t, <-cleaned)
					if strike != nil {
						strike(s.On(op, ""))
					}
					session.quota.mu.Unlock()
					time.Sleep(time.Minute)
					if how != "refused" {
						assert.Equal(t, 1, s.Count(op))
					}
					assert.Empty(t, s.Children("/queue"))
					assert.NoError(t, session.Err())
				})
			})
		}
	}
}
