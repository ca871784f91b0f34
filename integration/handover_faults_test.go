package integration

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

// A storm is a time of random faults. One server at most is down or paused at a time.
type storm struct {
	servers ensemble.Ensemble
	proxies [][]*proxy.Proxy // those of each client, one for each server
	referee *referee
	rng     *rand.Rand
	counts  map[string]int
	under   string // the path of the requests at which connections are cut; "" for the usual ones
}

// rage causes faults for a time, and ends with none.
func (s *storm) rage(t *testing.T, span time.Duration) {
	t.Helper()
	s.counts = map[string]int{}
	for over := time.Now().Add(span); time.Now().Before(over); {
		<-time.After(s.upTo(400 * time.Millisecond))
		if s.rng.IntN(12) == 0 {
			s.strikeServer(t)
		} else {
			s.strikeClient()
		}
	}
	require.NoError(t, s.servers.AwaitReady(within(t, limit)))
}

func (s *storm) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d))) + 1 }

// strikeServer kills or pauses a server for a while.
func (s *storm) strikeServer(t *testing.T) {
	t.Helper()
	node := s.servers.Node(s.rng.IntN(s.servers.Size()))
	if s.rng.IntN(2) == 0 {
		s.counts["server killed"]++
		require.NoError(t, node.Kill())
		<-time.After(s.upTo(time.Second))
		require.NoError(t, node.Start(within(t, limit)))
	} else {
		s.counts["server paused"]++
		require.NoError(t, node.Pause())
		<-time.After(s.upTo(6 * time.Second))
		require.NoError(t, node.Resume())
	}
	require.NoError(t, s.servers.AwaitReady(within(t, limit)))
}

// strikeClient strikes all connections of a client.
func (s *storm) strikeClient() {
	mine := s.proxies[s.rng.IntN(len(s.proxies))]
	each := func(do func(p *proxy.Proxy)) {
		for _, p := range mine {
			do(p)
		}
	}
	nth, deletes, groups := proxy.Nth(1+s.rng.IntN(20)), teamPath+"/", ownPaths+"/"
	if s.under != "" {
		deletes, groups = s.under, s.under
	}
	switch s.rng.IntN(10) {
	case 0:
		s.counts["connection cut"]++
		each((*proxy.Proxy).Cut)
	case 1, 2, 3:
		s.counts["cut before a delete"]++
		each(func(p *proxy.Proxy) { p.CutBefore(proxy.OpDelete, deletes, nth) })
	case 4, 5:
		s.counts["cut after a delete"]++
		each(func(p *proxy.Proxy) { p.CutAfter(proxy.OpDelete, deletes, nth) })
	case 6:
		s.counts["stalled"]++
		d := s.upTo(2 * time.Second)
		if s.rng.IntN(6) == 0 {
			d = 6 * time.Second // longer than a session lasts
		}
		each(func(p *proxy.Proxy) { p.Stall(true) })
		<-time.After(d)
		each(func(p *proxy.Proxy) { p.Stall(false) })
	case 7:
		s.counts["slow"]++
		each(func(p *proxy.Proxy) { p.Delay(s.upTo(30 * time.Millisecond)) })
		<-time.After(s.upTo(time.Second))
		each(func(p *proxy.Proxy) { p.Delay(0) })
	case 8:
		s.counts["cut before a group"]++
		each(func(p *proxy.Proxy) { p.CutBefore(proxy.OpMulti, groups, nth) })
	case 9:
		s.counts["cut after a group"]++
		each(func(p *proxy.Proxy) { p.CutAfter(proxy.OpMulti, groups, nth) })
	}
}
