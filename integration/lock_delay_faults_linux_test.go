package integration

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

const (
	delayedSession = 4 * time.Second
	lockDelay      = 1500 * time.Millisecond
)

// Processes, and clients of this process, acquire mutexes, read and write locks, permits
// and terms with a lock-delay, while connections break, stall and are slow, many of
// them when a holder is recorded or a record is deleted; processes are killed and
// paused, clients closed, and nodes of holders deleted; servers are killed, paused and
// restarted, and remove containers all the time. No slot is granted while another one
// is valid, nor until the delay has passed since the last moment at which one was that
// has never been released. In the end each worker is granted what it asks for, and
// nothing but empty containers is left.
//
// ZKRECIPES_CONTEST sets another time, ZKRECIPES_SEED the seed of an earlier run.
func TestLockDelayUnderFaults(t *testing.T) {
	span, seed := faultplan.Contest(t, 10*time.Second)
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true, ReapInterval: 200 * time.Millisecond})
	ctx, cancel := context.WithTimeout(context.Background(), span+2*limit)
	defer cancel()
	s := &delayedStorm{
		storm: storm{servers: servers, rng: rand.New(rand.NewPCG(seed, 4)), under: delayedPath + "/"},
		plan:  delayedPlan{Servers: servers.Servers(), Delay: lockDelay, Session: delayedSession, Workers: 4, Seed: seed},
	}
	endEachUncleanly(t, servers.Servers(), &s.all)
	over := make(chan struct{})
	var group sync.WaitGroup
	for i := range 3 {
		team := s.team(t)
		for n := range 5 {
			w := &delayedWorker{locks: team.use, report: s.all.add, rng: rand.New(rand.NewPCG(seed, uint64(1000*i+n)))}
			group.Go(func() { assert.NoError(t, w.work(ctx, over)) })
		}
	}
	for range 2 {
		s.startProcess(t)
	}
	s.rage(t, span)
	close(over)
	for _, p := range s.processes {
		p.finish(t)
	}
	group.Wait()
	require.NoError(t, ctx.Err(), "a worker was never granted what it asked for")
	t.Logf("faults: %v", s.counts)
	observer := connect(t, servers.Servers()[0])
	acquireEach(t, observer, lockDelay, s.all.add)
	seen := s.all.check(t, lockDelay)
	assert.Positive(t, seen.followed)
	t.Logf("%d grants, %d of them never released, of which %d were followed by others, at least %v after the delay", seen.grants, seen.unclean, seen.followed, seen.least)
	requireNoRecords(t, observer)
}

// endEachUncleanly acquires all locks with a client that is closed then, so that there
// is a lease of each that was not released.
func endEachUncleanly(t *testing.T, servers []string, all *stays) {
	t.Helper()
	client := connect(t, servers...)
	locks, err := delayedLocks(client, lockDelay)
	require.NoError(t, err)
	for _, lock := range locks {
		if lock.shared {
			continue
		}
		held, err := lock.one.Acquire(within(t, limit), lease.Forever)
		require.NoError(t, err)
		all.add(lock.event(held, stayGranted, now()))
		at := now()
		require.NoError(t, held.Err())
		all.add(lock.event(held, stayValid, at))
	}
	require.NoError(t, client.Close())
}

// A delayedStorm has further faults than a storm.
type delayedStorm struct {
	storm
	plan      delayedPlan
	all       stays
	teams     []*delayedTeam
	processes []*delayedProcess // which are not killed
	passing   []<-chan struct{} // faults that end by themselves
}

// A delayedTeam is a client, and another one after it was closed.
type delayedTeam struct {
	storm  *delayedStorm
	config framework.Config
	now    atomic.Pointer[teamNow]
}

type teamNow struct {
	client *framework.Client
	locks  []delayedLock
}

func (d *delayedTeam) use() ([]delayedLock, *framework.Client) {
	n := d.now.Load()
	return n.locks, n.client
}

// team returns a team that reaches each server through a proxy of its own.
func (s *delayedStorm) team(t *testing.T) *delayedTeam {
	t.Helper()
	d := &delayedTeam{storm: s, config: framework.Config{SessionTimeout: s.plan.Session, Logger: slog.New(slog.DiscardHandler)}}
	var mine []*proxy.Proxy
	for _, server := range s.servers.Servers() {
		p := proxy.New(t, server)
		mine, d.config.Servers = append(mine, p), append(d.config.Servers, p.Addr())
	}
	s.proxies = append(s.proxies, mine)
	s.teams = append(s.teams, d)
	d.connect(t)
	t.Cleanup(func() { _ = d.now.Load().client.Close() })
	return d
}

func (d *delayedTeam) connect(t *testing.T) {
	t.Helper()
	client, err := framework.Connect(within(t, limit), d.config)
	require.NoError(t, err)
	locks, err := delayedLocks(client, d.storm.plan.Delay)
	require.NoError(t, err)
	d.now.Store(&teamNow{client, locks})
}

func (s *delayedStorm) startProcess(t *testing.T) {
	t.Helper()
	s.plan.Seed++
	s.processes = append(s.processes, startDelayed(t, s.plan, &s.all))
}

// rage causes faults for a time, and ends with none.
func (s *delayedStorm) rage(t *testing.T, span time.Duration) {
	t.Helper()
	s.counts = map[string]int{}
	for n := range delayedFaults {
		s.strike(t, n)
	}
	for over := time.Now().Add(span); time.Now().Before(over); {
		<-time.After(s.upTo(300 * time.Millisecond))
		s.strike(t, s.rng.IntN(4*delayedFaults))
	}
	for _, passed := range s.passing {
		<-passed
	}
	require.NoError(t, s.servers.AwaitReady(within(t, limit)))
}

// delayedFaults is how many kinds of faults there are.
const delayedFaults = 6

// strike causes a fault of a kind; one from delayedFaults on is that of a storm.
func (s *delayedStorm) strike(t *testing.T, kind int) {
	t.Helper()
	one := s.rng.IntN(len(s.processes))
	switch kind {
	case 0:
		s.strikeServer(t)
	case 1, 2:
		s.counts["process killed"]++
		s.processes[one].kill(t)
		s.processes = append(s.processes[:one], s.processes[one+1:]...)
		s.startProcess(t)
	case 3:
		s.counts["process paused"]++
		s.passing = append(s.passing, s.processes[one].pause(s.upTo(2*s.plan.Session)))
	case 4:
		s.counts["client closed"]++
		team := s.teams[s.rng.IntN(len(s.teams))]
		require.NoError(t, team.now.Load().client.Close())
		team.connect(t)
	case 5:
		s.counts["stalled for longer than a session"]++
		s.stall(s.proxies[s.rng.IntN(len(s.proxies))], s.plan.Session+s.upTo(2*time.Second))
	default:
		s.strikeClient()
	}
}

// stall stalls all connections of a client for a time.
func (s *delayedStorm) stall(mine []*proxy.Proxy, span time.Duration) {
	passed := make(chan struct{})
	for _, p := range mine {
		p.Stall(true)
	}
	time.AfterFunc(span, func() {
		for _, p := range mine {
			p.Stall(false)
		}
		close(passed)
	})
	s.passing = append(s.passing, passed)
}

// acquireEach acquires each lock for no other, and releases it: then no record of an
// earlier holder may be left.
func acquireEach(t *testing.T, c *framework.Client, delay time.Duration, report func(stayEvent)) {
	t.Helper()
	locks, err := delayedLocks(c, delay)
	require.NoError(t, err)
	for _, lock := range locks {
		if lock.shared {
			continue
		}
		held, err := lock.all.Acquire(within(t, limit), lease.Forever)
		require.NoError(t, err, lock.path)
		e := lock.event(held, stayGranted, now())
		e.Weight = lock.permits
		report(e)
		e.What = stayReleases
		report(e)
		require.NoError(t, held.Release())
	}
}

// requireNoRecords waits until there is nothing below the locks but the empty containers
// of their delays.
func requireNoRecords(t *testing.T, observer *framework.Client) {
	t.Helper()
	locks, err := delayedLocks(observer, lockDelay)
	require.NoError(t, err)
	for _, lock := range locks {
		requireEmptySeenBy(t, observer, lock.path+"/lock-delay", limit)
		left, _, err := observer.Children(within(t, limit), lock.path)
		if framework.OutcomeOf(err) == framework.Failed { // the servers have removed that as well
			require.ErrorIs(t, err, framework.ErrNoNode)
		} else {
			require.NoError(t, err)
		}
		require.Subset(t, []string{"lock-delay"}, left)
	}
}
