package partition

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/retry"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// In the random test a tick is a quarter of that of the sample configuration, so that
// more happens. A session is five ticks, as with the 10 seconds there.
const (
	stormTick    = 500 * time.Millisecond
	stormSession = 5 * stormTick
)

// outside is the contender on a host without a server.
const outside = "outside"

// A storm is a time of random faults.
type storm struct {
	net        *network
	servers    ensemble.Ensemble
	history    *history
	contenders map[string]func(byte) error // writes to a contender's standard input
	rng        *rand.Rand
	began      time.Time
	log        []string
	counts     map[string]int // of faults
}

// Contenders on the host of each server and one outside, which know all servers, lose
// and acquire the mutex while servers are cut off, frozen and restarted. Each round of
// faults is healed until a contender is granted the mutex; in the end each is granted
// it.
func TestRandomFaults(t *testing.T) {
	inside(t, 1, func(t *testing.T) {
		span := number(t, "ZKRECIPES_PARTITION_TIME", 2*time.Minute, time.ParseDuration)
		seed := number(t, "ZKRECIPES_SEED", 1, func(s string) (uint64, error) {
			if s == "random" {
				return rand.Uint64(), nil
			}
			return strconv.ParseUint(s, 10, 64)
		})
		t.Logf("%v, ZKRECIPES_SEED=%d", span, seed)
		s := newStorm(t, seed)
		defer func() {
			t.Log(strings.Join(s.log, "\n"))
			requireNone(t, breaches(s.history.all()))
		}()
		// Without a lost lease nothing has been shown.
		over := time.Now().Add(span)
		lost := func() int {
			return len(slices.DeleteFunc(s.history.all(), func(l stay) bool { return l.Ended != evLost }))
		}
		for time.Now().Before(over) || lost() < enoughLost && time.Since(over) < 3*span {
			require.NoError(t, s.round(t.Context()))
			if breaches(s.history.all()) != nil {
				return
			}
		}
		require.NoError(t, s.awaitGrants(t.Context(), len(s.contenders)))

		all := s.history.all()
		s.note("%d leases, of which %d were lost; missed: %v; faults: %v", len(all), lost(), s.history.misses(), s.counts)
		assert.GreaterOrEqual(t, lost(), enoughLost, "leases lost")
		assert.Greater(t, len(all), 4*enoughLost, "leases")
	})
}

// enoughLost is how many leases must be lost for a storm to show something.
const enoughLost = 3

func newStorm(t *testing.T, seed uint64) *storm {
	t.Helper()
	s := &storm{net: newNetwork(t, 3), history: newHistory(), rng: rand.New(rand.NewPCG(seed, 0)), began: time.Now()}
	s.contenders, s.counts = map[string]func(byte) error{}, map[string]int{}
	s.servers = ensemble.New(t, ensemble.Options{
		Backend: ensemble.BackendProcess, Nodes: 3, Hosts: s.net.places(), TickTime: stormTick,
		Config: map[string]string{"initLimit": "10", "syncLimit": "5"},
	})
	p := plan{Servers: s.servers.Servers(), Session: stormSession, Seed: seed}
	s.contenders[outside] = s.history.start(t, outside, nil, p)
	for i, h := range s.net.hosts {
		p.Seed++
		s.contenders[h.name] = s.history.start(t, h.name, s.net.on(i), p)
	}
	return s
}

// round lets a contender keep the mutex, mostly one on the host to be hit, and causes
// up to three faults one after the other. It lets them last, and heals all.
func (s *storm) round(ctx context.Context) error {
	target, err := s.target(ctx)
	if err != nil {
		return err
	}
	keeper := s.net.hosts[target].name
	if s.rng.IntN(3) == 0 {
		keeper = slices.Sorted(maps.Keys(s.contenders))[s.rng.IntN(len(s.contenders))]
	}
	if err := s.contenders[keeper](keep); err != nil {
		return err
	}
	s.note("%s keeps the mutex", keeper)
	holds := func(h *history) bool { return h.last[keeper] != nil && h.last[keeper].Ended == "" }
	if err := s.history.await(ctx, keeper+" is not granted", holds); err != nil {
		return err
	}
	for range 1 + s.rng.IntN(3)*s.rng.IntN(2) { // mostly one: the last of several may hide the effect of the first
		f := faults[s.rng.IntN(len(faults))]
		s.note("%s %s", f.name, s.net.hosts[target].name)
		s.counts[f.name]++
		if err := f.strike(s, ctx, target); err != nil {
			return fmt.Errorf("%s %d: %w", f.name, target, err)
		}
		if err := s.wait(ctx, 0, stormSession/2); err != nil {
			return err
		}
		if s.rng.IntN(4) == 0 {
			target = s.rng.IntN(s.servers.Size())
		}
	}
	if err := s.wait(ctx, 0, 3*stormSession); err != nil {
		return err
	}
	return errors.Join(s.contenders[keeper](letGo), s.heal(ctx))
}

// target chooses a server, mostly the leader.
func (s *storm) target(ctx context.Context) (int, error) {
	leader, err := s.servers.Leader(ctx)
	if s.rng.IntN(3) == 0 {
		return s.rng.IntN(s.servers.Size()), err
	}
	return leader, err
}

// heal undoes all faults and waits until all servers serve and a contender is granted
// the mutex again.
func (s *storm) heal(ctx context.Context) error {
	s.note("heal")
	if err := s.net.heal(); err != nil {
		return err
	}
	for i := range s.servers.Size() {
		if err := errors.Join(s.servers.Node(i).Start(ctx), s.servers.Node(i).Resume()); err != nil {
			return err
		}
	}
	ready, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := s.servers.AwaitReady(ready); err != nil {
		return err
	}
	return s.awaitGrants(ctx, 1)
}

// awaitGrants waits until that many contenders have been granted the mutex from now on.
func (s *storm) awaitGrants(ctx context.Context, count int) error {
	since := time.Now()
	err := s.history.await(ctx, fmt.Sprintf("not granted to %d", count), func(h *history) bool {
		granted := 0
		for _, l := range h.last {
			if l.From.After(since) {
				granted++
			}
		}
		return granted >= count
	})
	s.note("granted to %d after %v", count, time.Since(since).Round(time.Millisecond))
	return err
}

func (s *storm) wait(ctx context.Context, least, most time.Duration) error {
	return retry.Sleep(ctx, least+time.Duration(s.rng.Int64N(int64(most-least))))
}

// note logs what happens.
func (s *storm) note(format string, arguments ...any) {
	s.log = append(s.log, fmt.Sprintf("%s %8v  ", time.Now().Format("15:04:05.000"), time.Since(s.began).Round(time.Millisecond))+
		fmt.Sprintf(format, arguments...))
}
