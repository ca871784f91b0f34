package main

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Tests of the Biller in virtual time. All that a test uses is made inside
// synctest.Test (the "bubble"): the network, the server and the clients. There the
// clock stands still while anything runs, and jumps when all wait. So
// <-time.After(time.Hour) takes a moment, and it is known exactly what is under way
// then.

const (
	sessionTimeout = 30 * time.Second
	takes          = 10 * time.Minute // a bill, so that all take an hour
	pause          = 5 * time.Minute  // see Biller
)

// A process is one of those that bill.
type process struct {
	client  *framework.Client
	session int64      // its first one
	ended   chan error // gets what Run returns
}

// start starts a process with a client of that name, by which faults find it.
func start(ctx context.Context, t *testing.T, server *zktest.Server, name string, ledger Ledger) *process {
	client, err := framework.Connect(ctx, framework.Config{
		Servers:        []string{server.Addr()},
		Dial:           server.Dial(name), // in place of TCP
		SessionTimeout: sessionTimeout,
		Logger:         slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() }) // before the test ends, or synctest complains
	lock, err := mutex.New(client, lockPath)
	require.NoError(t, err)

	// With a deadline, as a wait without an end would never fail the test: the pings of
	// the clients keep the clock going.
	ctx, cancel := context.WithTimeout(ctx, 24*time.Hour)
	p := &process{client: client, session: client.Session().ID(), ended: make(chan error, 1)}
	go func() {
		defer cancel()
		p.ended <- (&Biller{Lock: lock, Ledger: ledger, Pause: pause}).Run(ctx)
	}()
	return p
}

// inVirtualTime runs a test in a bubble, with a server and a ledger.
func inVirtualTime(t *testing.T, test func(t *testing.T, server *zktest.Server, ledger *memory)) {
	synctest.Test(t, func(t *testing.T) {
		test(t, zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network))), newMemory(accounts, takes))
	})
}

// The fear: a waiter gets nothing in the end, or too early. It waits for an hour here.
func TestWaitsForHours(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(t *testing.T, server *zktest.Server, ledger *memory) {
		began := time.Now()
		first := start(t.Context(), t, server, "first", ledger)
		<-time.After(time.Minute)
		second := start(t.Context(), t, server, "second", ledger)

		require.NoError(t, <-first.ended)
		require.NoError(t, <-second.ended)
		require.GreaterOrEqual(t, time.Since(began), accounts*takes)
		require.NoError(t, ledger.check())
		require.Equal(t, 1, ledger.holders(), "the second one found nothing to do")
	})
}

// The fear: two holders at once. The holder is cut off from all servers in the middle
// of a bill. Its work must have stopped before another process can begin.
func TestTwoHoldersAtOnce(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(t *testing.T, server *zktest.Server, ledger *memory) {
		first := start(t.Context(), t, server, "first", ledger)
		<-time.After(time.Minute)
		second := start(t.Context(), t, server, "second", ledger)
		<-time.After(24 * time.Minute) // the first one makes its third bill
		server.Partition("first", true)

		require.NoError(t, <-second.ended)
		server.Partition("first", false)
		require.NoError(t, <-first.ended, "finds nothing left to do")

		// The third account took two attempts. The first one ended early, by the clock
		// of the process that was cut off: a sixth of the session timeout or more
		// before the server ended the session, and with that admitted the other.
		require.NoError(t, ledger.check())
		cut, next := ledger.bills[2], ledger.bills[3]
		require.ErrorIs(t, cut.err, lease.ErrLost)
		require.Equal(t, cut.account, next.account)
		require.Greater(t, next.token, cut.token)
		require.GreaterOrEqual(t, next.began.Sub(cut.ended), sessionTimeout/6)
	})
}

// The fear: a lock lost without a word. However it comes, the holder's context ends,
// the work stops, and goes on when the lock could be acquired again.
func TestALockLostWithoutAWord(t *testing.T) {
	t.Parallel()
	losses := map[string]func(t *testing.T, server *zktest.Server, p *process){
		"the session expires": func(_ *testing.T, server *zktest.Server, p *process) {
			server.ExpireSession(p.session)
		},
		"somebody deletes the znode": func(t *testing.T, server *zktest.Server, p *process) {
			require.NoError(t, p.client.Delete(t.Context(), lockPath+"/"+server.Children(lockPath)[0], framework.AnyVersion))
		},
		"all servers are silent for an hour": func(_ *testing.T, server *zktest.Server, _ *process) {
			server.Pause()
			time.AfterFunc(time.Hour, server.Resume)
		},
	}
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, server *zktest.Server, ledger *memory) {
				p := start(t.Context(), t, server, "first", ledger)
				<-time.After(25 * time.Minute)
				struck := time.Now()
				lose(t, server, p)
				require.NoError(t, <-p.ended)

				require.NoError(t, ledger.check())
				cut, next := ledger.bills[2], ledger.bills[3]
				require.ErrorIs(t, cut.err, lease.ErrLost)
				require.LessOrEqual(t, cut.ended.Sub(struck), sessionTimeout)
				require.Greater(t, next.token, cut.token, "it is another lease")
			})
		})
	}
}

// The fear: a lock that hangs for ever after a short failure of the network. Nobody
// notices: the holder keeps its lease, and the waiter gets the lock after it.
func TestALockThatHangsForEver(t *testing.T) {
	t.Parallel()
	failures := map[string]func(server *zktest.Server){
		"all connections break": func(server *zktest.Server) { server.DropConnections("") },
		"the server restarts":   func(server *zktest.Server) { server.Restart(true) },
		"ten seconds of silence": func(server *zktest.Server) {
			server.Partition("", true)
			time.AfterFunc(10*time.Second, func() { server.Partition("", false) })
		},
		"the event that wakes the waiter is dropped": func(server *zktest.Server) {
			server.On(zktest.OpDelete, lockPath).Client("second").OnEvent().Cut()
		},
		"the answer to the release is dropped": func(server *zktest.Server) {
			server.On(zktest.OpDelete, lockPath).Client("first").After().Cut()
		},
	}
	for name, strike := range failures {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, server *zktest.Server, ledger *memory) {
				first := start(t.Context(), t, server, "first", ledger)
				<-time.After(time.Minute)
				second := start(t.Context(), t, server, "second", ledger)
				<-time.After(24 * time.Minute)
				strike(server)

				require.NoError(t, <-first.ended)
				require.NoError(t, <-second.ended)
				require.NoError(t, ledger.check())
				require.Equal(t, 1, ledger.holders(), "the lease was not lost")
			})
		})
	}
}

// The fear: a znode left behind, which blocks all others while the session lives. The
// answer to its create is dropped, so that the client does not know whether it exists.
func TestAZnodeLeftBehind(t *testing.T) {
	t.Parallel()
	failures := map[string]func(created *zktest.Rule) *zktest.Rule{
		"the connection breaks":    (*zktest.Rule).Cut,
		"the answer never comes":   (*zktest.Rule).DropReply,
		"no answer comes any more": (*zktest.Rule).Mute,
	}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, server *zktest.Server, ledger *memory) {
				p := startWithoutAnswer(t.Context(), t, server, fail, ledger)
				require.NoError(t, <-p.ended)
				require.NoError(t, ledger.check())
				requireClean(t, server, p)
			})
		})
		t.Run(name+", and the caller gives up", func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, server *zktest.Server, ledger *memory) {
				ctx, cancel := context.WithCancel(t.Context())
				p := startWithoutAnswer(ctx, t, server, fail, ledger)
				cancel()
				require.ErrorIs(t, <-p.ended, context.Canceled)
				require.Empty(t, ledger.bills)
				requireClean(t, server, p)
			})
		})
	}
}

// startWithoutAnswer starts a process that has just created its znode, and gets no
// answer.
func startWithoutAnswer(ctx context.Context, t *testing.T, server *zktest.Server, fail func(*zktest.Rule) *zktest.Rule, ledger Ledger) *process {
	// The first create fails, as the path does not exist yet.
	created := fail(server.On(zktest.OpCreate, lockPath+"/").Nth(2).After())
	p := start(ctx, t, server, "first", ledger)
	<-created.Fired()
	require.Len(t, server.Children(lockPath), 1)
	return p
}

// requireClean fails unless soon no znode of a contender is left, although the session
// lives.
func requireClean(t *testing.T, server *zktest.Server, p *process) {
	<-time.After(2 * sessionTimeout)
	synctest.Wait()
	require.Empty(t, server.Children(lockPath), server.Dump())
	require.Len(t, server.Sessions(), 1)
	require.Equal(t, p.session, server.Sessions()[0].ID)
}
