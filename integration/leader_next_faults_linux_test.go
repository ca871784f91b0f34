package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
)

// Candidates of several clients lead again and again, while one after another of them
// is made the next leader, connections break, stall and are slow, many of them when
// candidates are asked to step back or do so, sessions end, and servers are killed,
// paused and restarted. No two terms are valid at once. When MakeNext has returned nil,
// the next term is that of the named candidate, unless its session has ended. In the
// end each candidate leads.
//
// ZKRECIPES_CONTEST sets another time, ZKRECIPES_SEED the seed of an earlier run.
func TestMakeNextUnderFaults(t *testing.T) {
	span, seed := faultplan.Contest(t, 10*time.Second)
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	s := &delayedStorm{storm: storm{servers: servers, rng: rand.New(rand.NewPCG(seed, 5)), under: electionPath + "/"}}
	ctx, cancel := context.WithTimeout(context.Background(), span+2*limit)
	defer cancel()
	all := &terms{referee: newReferee(), changed: make(chan struct{})}
	over := make(chan struct{})
	var group sync.WaitGroup
	var rivals []*rival
	for i := range 4 {
		client := s.connect(t)
		for n := range 2 {
			id := fmt.Sprintf("%d-%d", i, n)
			rivals = append(rivals, &rival{t, i, client, newElection(t, client, id), all, rand.New(rand.NewPCG(seed, uint64(100*i+n)))})
		}
	}
	for _, r := range rivals {
		group.Go(func() { r.work(ctx, over) })
	}
	chooser := &chooser{t: t, election: newElection(t, s.connect(t), "chooser"), rivals: rivals, all: all, rng: rand.New(rand.NewPCG(seed, 99))}
	group.Go(func() { chooser.work(ctx, over) })
	s.rageAtSessions(t, span)
	close(over)
	group.Wait()
	require.NoError(t, ctx.Err(), "a candidate has never led")
	t.Logf("faults: %v", s.counts)
	t.Logf("%d terms, %d of them lost; MakeNext: %v", all.referee.grants, all.referee.lost, chooser.counts)
	assert.Empty(t, all.referee.faults)
	assert.Positive(t, chooser.counts["right"])
	requireEmpty(t, servers.Servers()[0], electionPath, limit)
}

// rageAtSessions causes faults for a time, and ends with none. All the time one client
// is stalled for longer than its session lasts, or was a moment ago.
func (s *delayedStorm) rageAtSessions(t *testing.T, span time.Duration) {
	t.Helper()
	s.counts = map[string]int{}
	var stalled <-chan struct{}
	for over := time.Now().Add(span); time.Now().Before(over); {
		if stalled == nil || ended(stalled) {
			s.counts["stalled for longer than a session"]++
			s.stall(s.proxies[s.rng.IntN(len(s.proxies))], stormSession+s.upTo(2*time.Second))
			stalled = s.passing[len(s.passing)-1]
		}
		<-time.After(s.upTo(400 * time.Millisecond))
		if s.rng.IntN(12) == 0 {
			s.strikeServer(t)
		} else {
			s.strikeClient()
		}
	}
	for _, passed := range s.passing {
		<-passed
	}
	require.NoError(t, s.servers.AwaitReady(within(t, limit)))
}

// terms are those of all candidates, in the order in which they were granted.
type terms struct {
	referee *referee

	mu      sync.Mutex
	granted []grantedTerm
	changed chan struct{} // closed by the next grant
}

type grantedTerm struct {
	token lease.Token
	id    string
}

func (a *terms) add(term *lease.Lease, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.granted = append(a.granted, grantedTerm{term.Token(), id})
	close(a.changed)
	a.changed = make(chan struct{})
}

// after waits for the first term after that of a leader, and returns whose it is.
func (a *terms) after(ctx context.Context, token lease.Token) (id string, found bool) {
	for {
		a.mu.Lock()
		at := slices.IndexFunc(a.granted, func(g grantedTerm) bool { return g.token > token })
		if at >= 0 {
			id = a.granted[at].id
		}
		changed := a.changed
		a.mu.Unlock()
		if at >= 0 {
			return id, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", false
		}
	}
}

// A rival is one candidate.
type rival struct {
	t        *testing.T
	team     int // its client's number
	client   *framework.Client
	election *leader.Election
	all      *terms
	rng      *rand.Rand
}

// work leads until there are no more faults, and then twice more.
func (r *rival) work(ctx context.Context, over <-chan struct{}) {
	for left := 2; left > 0 && ctx.Err() == nil; {
		if ended(over) {
			left--
		}
		term, err := r.election.Acquire(ctx, lease.Forever)
		if err != nil {
			if ctx.Err() == nil {
				r.t.Errorf("acquire: %v", err)
			}
			return
		}
		r.all.referee.grant(r.team, term)
		r.all.add(term, r.election.ID())
		<-time.After(time.Duration(r.rng.IntN(40)) * time.Millisecond)
		r.all.referee.release(r.team, term)
		_ = term.Release()
		r.all.referee.released(r.team)
	}
}

// A chooser makes one candidate after another the next leader.
type chooser struct {
	t        *testing.T
	election *leader.Election
	rivals   []*rival
	all      *terms
	rng      *rand.Rand
	counts   map[string]int
}

func (c *chooser) work(ctx context.Context, over <-chan struct{}) {
	c.counts = map[string]int{}
	for !ended(over) && ctx.Err() == nil {
		c.counts[c.choose(ctx, c.rivals[c.rng.IntN(len(c.rivals))])]++
	}
}

// choose makes one the next leader, and says what has come of it.
func (c *chooser) choose(ctx context.Context, r *rival) string {
	limited, cancel := context.WithTimeout(ctx, time.Duration(c.rng.IntN(3000))*time.Millisecond+20*time.Millisecond)
	defer cancel()
	session := r.client.Session()
	clear := c.isOnlyIn(limited, r, session)
	present, err := c.election.MakeNext(limited, r.election.ID())
	switch {
	case err == nil:
	case errors.Is(err, leader.ErrNoCandidate):
		return "no candidate"
	case errors.Is(err, leader.ErrStepsBack): // as one that had no time left has asked it to
		return "steps back itself"
	case errors.Is(err, leader.ErrLeadsAlready):
		return "leads already"
	case errors.Is(err, context.DeadlineExceeded):
		return "no time left"
	default:
		c.t.Errorf("make %s next: %v", r.election.ID(), err)
		return "failed"
	}
	next, found := c.all.after(ctx, present.Token)
	switch {
	case next == r.election.ID():
		return "right"
	case !found || !clear || session.Err() != nil:
		return "its session has ended"
	}
	c.t.Errorf("%s was made next behind token %d of %s, and %s leads", r.election.ID(), present.Token, present.Holder.Who, next)
	return "wrong"
}

// isOnlyIn reports whether a candidate has no node but one of a session: one of an
// earlier session, which goes when that ends on the server, would be made the next one.
func (c *chooser) isOnlyIn(ctx context.Context, r *rival, session *framework.Session) bool {
	all, err := c.election.Contenders(ctx)
	all = slices.DeleteFunc(all, func(o lease.Contender) bool { return o.Holder.Who != r.election.ID() })
	return err == nil && session != nil && len(all) == 1 && all[0].Session == session.ID()
}
