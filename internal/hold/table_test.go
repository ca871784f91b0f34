package hold_test

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// many grants as many slots.
func (p world) many(t *testing.T, n int, change ...func(*hold.Grant)) (all []*lease.Lease) {
	t.Helper()
	for range n {
		all = append(all, p.grant(t, t.Context(), change...))
	}
	return all
}

// grantAt makes a hold on a node of that name.
func (p world) grantAt(t *testing.T, path string, change ...func(*hold.Grant)) *lease.Lease {
	t.Helper()
	c := p.In(p.Session())
	_, err := c.Create(t.Context(), path, nil, framework.Ephemeral)
	require.NoError(t, err)
	_, stat, err := c.Exists(t.Context(), path)
	require.NoError(t, err)
	reliance, err := kit.Of(c).Rely(t.Context(), path)
	require.NoError(t, err)
	g := hold.Grant{Client: c, Session: c.Session(), Reliance: reliance, Key: p.key(), Path: path, Token: lease.Token(stat.Czxid)}
	for _, f := range change {
		f(&g)
	}
	return hold.Start(t.Context(), g)
}

// It runs alone, because it counts the goroutines of the process.
func TestHoldsCostNoGoroutines(t *testing.T) { //nolint:paralleltest // see above
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		p := world{dial(t, s, "client"), s}
		require.NoError(t, p.CreateParents(t.Context(), "/lock/n-"))
		before := runtime.NumGoroutine()
		held := p.many(t, 400, maxHold(time.Hour))
		time.Sleep(timeout)
		synctest.Wait()
		assert.Less(t, runtime.NumGoroutine(), before+100, "those that wait for requests are few")
		for _, h := range held {
			require.NoError(t, h.Release())
		}
	})
}

// Few looks are under way at once, and what they wait for delays nothing else: a
// maximum hold time ends to the nanosecond, and each hold is looked at in the end.
func TestLooksAreMadeAFewAtATime(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		const n = 100
		held := p.many(t, n)
		short := p.grant(t, t.Context(), maxHold(time.Second))
		end := time.Now().Add(time.Second)
		p.suspend()
		time.Sleep(time.Second / 2)
		looking, holds := hold.Looking(p.Client)
		assert.Equal(t, n+1, holds)
		assert.LessOrEqual(t, looking, 16)
		assert.Positive(t, looking)
		<-short.Context().Done()
		assert.Equal(t, end, time.Now())
		p.resume()
		synctest.Wait()
		assert.Equal(t, n, p.server.Watches())
		for _, h := range held {
			require.NoError(t, h.Err())
			require.NoError(t, h.Release())
		}
		require.ErrorIs(t, short.Release(), lease.ErrMaxHold)
	})
}

// Each hold is looked at about once per session timeout, for as long as it lasts.
func TestEveryHoldIsLookedAtAgainAndAgain(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		const n = 30
		held := p.many(t, n)
		time.Sleep(timeout / 2)
		for range 5 {
			before := p.server.Count(zktest.OpExists)
			time.Sleep(2 * timeout)
			assert.InDelta(t, 2*n, p.server.Count(zktest.OpExists)-before, n/2)
		}
		p.server.On(zktest.OpExists, "/ns"+held[n/2].Path()).Fail(zktest.NoNode)
		time.Sleep(timeout * 3 / 2)
		for i, h := range held {
			assert.Equal(t, i != n/2, stands(h))
		}
	})
}

// A table that was empty for long looks after the next hold as after the first.
func TestHoldAfterAllOthersHaveEnded(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		other := dial(t, p.server, "other")
		for range 3 {
			require.NoError(t, p.grant(t, t.Context()).Release())
			time.Sleep(time.Hour + time.Minute)
			require.NoError(t, p.CreateParents(t.Context(), "/lock/n-"))
			h := p.grant(t, t.Context(), maxHold(time.Second))
			end := time.Now().Add(time.Second)
			<-h.Context().Done()
			require.Equal(t, end, time.Now())
			require.ErrorIs(t, h.Release(), lease.ErrMaxHold)

			require.NoError(t, p.CreateParents(t.Context(), "/lock/n-"))
			h = p.grant(t, t.Context())
			require.NoError(t, other.Delete(t.Context(), h.Path(), -1))
			<-h.Context().Done()
			synctest.Wait()
			lostTo(t, h, lease.ErrDeleted)
		}
	})
}

// An event is about the hold whose watch it is of, also if it comes when another holds
// a node of the same name.
func TestLateEventEndsNoLaterHold(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		w, watched := p.watched(t)
		require.NoError(t, p.grantAt(t, "/lock/x", watched).Release())
		h := p.grantAt(t, "/lock/x")
		for _, ev := range []framework.EventType{framework.EventDataChanged, framework.EventDeleted} {
			w.fire(framework.Event{Type: ev})
			synctest.Wait()
			require.NoError(t, h.Err())
		}
		time.Sleep(timeout)
		require.True(t, stands(h))
	})
}

// A hold that is released during a look leaves no watch, and a later one of the same
// name has its own.
func TestReleaseDuringALook(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		for range 3 {
			late := p.server.On(zktest.OpGetData, "/ns/lock/x").After()
			late.Delay(time.Second)
			first := p.grantAt(t, "/lock/x")
			<-late.Fired()
			require.NoError(t, first.Release())
			h := p.grantAt(t, "/lock/x")
			time.Sleep(3 * timeout)
			require.NoError(t, h.Err())
			require.Equal(t, 1, p.server.Watches())
			require.NoError(t, h.Release())
			synctest.Wait()
			require.Zero(t, p.server.Watches())
		}
	})
}

// A change that is notified during a look is looked at after it, and watched again.
func TestChangeDuringALookIsLookedAt(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		w, watched := p.watched(t)
		h := p.grant(t, t.Context(), watched)
		look := p.server.On(zktest.OpExists, "/ns"+h.Path())
		look.Delay(time.Second)
		<-look.Fired()
		w.stop()
		p.server.ResetCounts()
		w.fire(framework.Event{Type: framework.EventDataChanged})
		time.Sleep(2 * time.Second)
		require.Equal(t, 1, p.server.Count(zktest.OpGetData))
		require.NoError(t, h.Err())
	})
}

// Err knows of a deletion that was notified, whichever goroutine has run.
func TestErrKnowsOfAnEventAtOnce(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		for range 50 {
			w, watched := p.watched(t)
			h := p.grant(t, t.Context(), watched)
			w.fire(framework.Event{Type: framework.EventDeleted})
			require.ErrorIs(t, h.Err(), lease.ErrDeleted)
		}
	})
}

// An event that came before the grant is not missed.
func TestEventBeforeTheGrantIsKnown(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		w, watched := p.watched(t)
		h := p.grant(t, t.Context(), watched, func(*hold.Grant) { w.fire(framework.Event{Type: framework.EventDeleted}) })
		require.ErrorIs(t, h.Err(), lease.ErrDeleted)

		w, watched = p.watched(t)
		h = p.grant(t, t.Context(), watched, func(*hold.Grant) { w.fire(framework.Event{Type: framework.EventDataChanged}) })
		p.server.ResetCounts()
		time.Sleep(time.Second)
		require.Equal(t, 1, p.server.Count(zktest.OpGetData))
		require.NoError(t, h.Err())
	})
}

// A break ends the holds that began before it, and none of those that began after it.
func TestStopOnSuspendOfHoldsOfTwoConnections(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		before := p.many(t, 20)
		for range 3 {
			p.server.DropConnections("client")
			after := p.many(t, 20) // waits for the next connection
			synctest.Wait()
			for i := range before {
				require.False(t, stands(before[i]))
				require.ErrorIs(t, before[i].Err(), lease.ErrSuspended)
				require.True(t, stands(after[i]))
			}
			before = after
		}
	}, stopping)
}

// Close ends all leases before it closes the session, and waits for all of them as long
// as it is told to.
func TestCloseEndsAllHoldsFirst(t *testing.T) {
	for _, limit := range []time.Duration{0, 5 * time.Second} {
		t.Run(limit.String(), func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				held := p.many(t, 50)
				p.server.SetFaults(func(call zktest.Call) zktest.Action {
					if call.Op == zktest.OpClose && call.Client == "client" && call.Phase == zktest.PhaseBeforeApply {
						for _, h := range held {
							assert.False(t, stands(h))
						}
					}
					return zktest.Pass
				})
				begun, ended := time.Now(), make(chan time.Duration, 1)
				go func() {
					_ = p.Close()
					ended <- time.Since(begun)
				}()
				for i, h := range held {
					<-h.Context().Done()
					require.ErrorIs(t, h.Err(), framework.ErrClosed)
					if limit > 0 && i > 0 {
						time.Sleep(limit / 100)
						require.Equal(t, 50-i+1, p.nodes())
						_ = h.Release()
						synctest.Wait()
					}
				}
				if limit > 0 {
					require.Empty(t, ended, "one is not released yet")
					_ = held[0].Release()
				}
				assert.InDelta(t, limit/100*49, <-ended, float64(100*time.Millisecond))
			}, func(cfg *framework.Config) { cfg.CloseGrace = limit })
		})
	}
}

// A hold that begins when Close has ended the others is lost.
func TestHoldThatBeginsDuringClose(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		first := p.grant(t, t.Context())
		hold.BeginClose(p.Client)
		late := p.grant(t, t.Context())
		for _, h := range []*lease.Lease{first, late} {
			require.False(t, stands(h))
			require.ErrorIs(t, h.Err(), framework.ErrClosed)
			require.ErrorIs(t, h.Release(), framework.ErrClosed)
		}
		synctest.Wait()
		require.Zero(t, p.nodes())
		late = p.grant(t, t.Context())
		require.ErrorIs(t, late.Err(), framework.ErrClosed, "nor when all of them are released")
	})
}

// Of holds that begin while the client is being closed, none outlives the session.
func TestHoldsThatBeginDuringClose(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		for range 30 {
			c, err := framework.Connect(t.Context(), framework.Config{
				Servers: []string{p.server.Addr()}, Dial: p.server.Dial("late"), Namespace: "ns", Logger: slog.New(slog.DiscardHandler),
			})
			require.NoError(t, err)
			own := world{c, p.server}
			held := make(chan *lease.Lease, 8)
			var grants []hold.Grant
			for range cap(held) {
				own.grant(t, t.Context(), func(g *hold.Grant) { grants = append(grants, *g) })
			}
			for _, g := range grants {
				go func() { held <- hold.Start(context.Background(), g) }()
			}
			go c.Close()
			for range grants {
				h := <-held
				<-h.Context().Done()
				require.ErrorIs(t, h.Err(), framework.ErrClosed)
				require.ErrorIs(t, h.Release(), framework.ErrClosed)
			}
			c.Close()
		}
	})
}
