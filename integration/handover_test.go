package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

const (
	teamPath = "/locks/team"
	counter  = "/counter" // which each holder reads and increments
	lateNode = "/late"    // which holders write that have released
)

// Clients with many goroutines each contend for one mutex, so that most slots are
// handed over within a session, before the delete is answered. Meanwhile connections
// break, stall and are slow, many of them at a delete, and servers are killed, paused
// and restarted. No two leases are valid at once, no increment of a counter is lost, no
// holder reads an old one, no late write of an earlier holder comes behind a write of a
// later one, and in the end each goroutine is granted the mutex.
//
// Meanwhile many goroutines of the same clients acquire other mutexes, so that creates
// and deletes travel in groups: see crowd. On each path tokens grow, no two leases are
// valid at once, and no node is left.
//
// ZKRECIPES_CONTEST sets another time, ZKRECIPES_SEED the seed of an earlier run.
func TestHandOverUnderFaults(t *testing.T) {
	span, seed := faultplan.Contest(t, 8*time.Second)
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	setUp := connect(t, servers.Servers()...)
	for _, node := range []string{counter, lateNode} {
		_, err := setUp.Create(within(t, limit), node, []byte("0"), framework.Persistent)
		require.NoError(t, err)
	}
	s := &storm{servers: servers, referee: newReferee(), rng: rand.New(rand.NewPCG(seed, 1))}
	ctx, cancel := context.WithTimeout(context.Background(), span+2*limit)
	defer cancel()
	over := make(chan struct{})
	others := newCrowd()
	var group sync.WaitGroup
	for i := range 3 {
		client := s.connect(t)
		for n := range 8 {
			w := &teamWorker{t, i, client, newMutex(t, client, teamPath), s.referee, rand.New(rand.NewPCG(seed, uint64(100*i+n)))}
			group.Go(func() { w.work(ctx, over) })
		}
		for n := range ownWorkers {
			w := others.worker(t, i, n, client, seed)
			group.Go(func() { w.work(ctx, over) })
		}
	}
	s.rage(t, span)
	close(over)
	group.Wait()
	require.NoError(t, ctx.Err(), "a goroutine was never granted the mutex")
	require.NoError(t, setUp.Sync(within(t, limit), counter)) // its server may be behind
	data, _, err := setUp.Get(within(t, limit), counter)
	require.NoError(t, err)
	s.referee.end(t, string(data))
	others.end(t, servers.Servers()[0])
	t.Logf("faults: %v", s.counts)
	requireEmpty(t, servers.Servers()[0], teamPath, limit)
}

// stormSession is the session timeout of the clients.
const stormSession = 5 * time.Second

// connect returns a client that reaches each server through a proxy of its own.
func (s *storm) connect(t *testing.T) *framework.Client {
	t.Helper()
	var addrs []string
	var mine []*proxy.Proxy
	for _, server := range s.servers.Servers() {
		p := proxy.New(t, server)
		mine, addrs = append(mine, p), append(addrs, p.Addr())
	}
	s.proxies = append(s.proxies, mine)
	return connectWith(t, framework.Config{Servers: addrs, SessionTimeout: stormSession})
}

// A teamWorker is one goroutine.
type teamWorker struct {
	t       *testing.T
	team    int // its client's number
	client  *framework.Client
	mutex   lease.Acquirer
	referee *referee
	rng     *rand.Rand
}

// work acquires the mutex until there are no more faults, and then twice more.
func (w *teamWorker) work(ctx context.Context, over <-chan struct{}) {
	for left := 2; left > 0 && ctx.Err() == nil; {
		wait := lease.Forever
		if ended(over) {
			left--
		} else if w.rng.IntN(5) == 0 {
			wait = time.Duration(w.rng.IntN(300)) * time.Millisecond
		}
		held, err := w.mutex.Acquire(ctx, wait)
		switch {
		case err == nil:
			w.hold(ctx, held)
		case errors.Is(err, lease.ErrTimeout) && wait != lease.Forever, ctx.Err() != nil:
		default:
			w.t.Errorf("acquire: %v", err)
			return
		}
	}
}

// hold uses a lease and releases it. Now and then a late write follows.
func (w *teamWorker) hold(ctx context.Context, held *lease.Lease) {
	w.referee.grant(w.team, held)
	w.increment(ctx, held)
	if w.rng.IntN(4) == 0 {
		<-time.After(time.Duration(w.rng.IntN(3000)) * time.Microsecond)
	}
	w.referee.release(w.team, held)
	release := held.Release
	if w.rng.IntN(3) == 0 {
		release = held.ReleaseAsync
	}
	if w.rng.IntN(4) > 0 {
		_ = release()
		w.referee.released(w.team)
		return
	}
	var late sync.WaitGroup
	late.Go(func() { w.writeLate(ctx, held) })
	_ = release()
	w.referee.released(w.team)
	w.writeWithCheck(ctx, held)
	late.Wait()
}

// increment reads the counter and writes the next number, which only the lock protects.
func (w *teamWorker) increment(ctx context.Context, held *lease.Lease) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	data, _, err := w.client.Get(ctx, counter)
	if err != nil || held.Err() != nil {
		return
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		w.t.Errorf("the counter is %q", data)
		return
	}
	w.referee.read(held, n)
	_, err = w.client.Multi(ctx, held.Check(), framework.SetOp(counter, []byte(strconv.Itoa(n+1)), framework.AnyVersion))
	w.referee.wrote(held, n+1, err)
}

// writeLate writes with a check that the client does not know to be that of a lease.
func (w *teamWorker) writeLate(ctx context.Context, held *lease.Lease) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	before := w.referee.lastWriter()
	_, err := w.client.Multi(ctx, framework.CheckOp(held.Path(), framework.AnyVersion),
		framework.SetOp(lateNode, []byte(fmt.Sprint(held.Token())), framework.AnyVersion))
	if err == nil && before > held.Token() {
		w.referee.faultf("token %d has written late, %d had written before", held.Token(), before)
	}
}

// writeWithCheck writes with the Check of a lease whose release has returned, but may
// not be answered.
func (w *teamWorker) writeWithCheck(ctx context.Context, held *lease.Lease) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := w.client.Multi(ctx, held.Check(), framework.SetOp(lateNode, nil, framework.AnyVersion)); err == nil {
		w.referee.faultf("the Check of token %d passes after its release", held.Token())
	}
}
