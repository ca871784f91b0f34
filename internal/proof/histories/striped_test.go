package histories

import (
	"context"
	"errors"
	"testing"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// The sides of stripes: two keys, and any stripe. The keys have stripes of their own
// if there are two.
const (
	oneKey   = "one" // the name of a side is the key
	cartKey  = "cart"
	anyShare = "any"
)

// stripes is how many there are.
const stripes = 2

// stripedSubject is two stripes, which are acquired by keys and as shares.
func stripedSubject() *subject {
	return &subject{
		name: "stripes", model: severalModel, nests: true, queues: stripeQueues(stripes), names: znode.Locks,
		open: func(c *framework.Client, th *thread) player {
			return stripesOf{th, th.station.locks(c, th.scenario, stripes)}
		},
		excludes: always, verifies: true,
		choose: func(d die, st, outer *Step) {
			st.Side = []string{anyShare, anyShare, oneKey, cartKey}[d.IntN(4)]
			// See severalSubject. AcquireAny re-enters what its context owns.
			covered := outer != nil && outer.Wait == lease.Forever && (st.Side == anyShare || st.Side == outer.Side)
			if outer != nil && st.Wait == lease.Forever && !covered {
				st.Wait = d.upTo(foreignOrder)
			}
		},
		blocked: func(_ Scenario, ahead []znode.Name, _ znode.Name) bool { return len(ahead) > 0 },
		allowed: func(s Scenario, _ *tenure, _ Step, err error) bool {
			return s.Room > 0 && errors.Is(err, framework.ErrTooManyEphemerals) // as with several locks
		},
	}
}

func stripeQueues(n int) (queues []string) {
	for i := range n {
		queues = append(queues, "/"+znode.StripeDir(i))
	}
	return queues
}

// locks returns the stripes of a client, always the same ones: calls of AcquireAny
// share what they know.
func (st *station) locks(c *framework.Client, s Scenario, n int) *striped.Locks {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.stripesOf != c {
		st.stripesOf, st.stripes = c, map[int]*striped.Locks{}
	}
	if st.stripes[n] == nil {
		st.stripes[n] = must(striped.New(c, path, n, striped.WithMaxHold(s.MaxHold), striped.WithMinHold(s.MinHold), striped.WithLockDelay(s.Delay)))
	}
	return st.stripes[n]
}

// stripesOf are the stripes, as a thread uses them.
type stripesOf struct {
	*thread
	locks *striped.Locks
}

func (p stripesOf) acquire(ctx context.Context, st Step) (*lease.Lease, error) {
	if st.Side != anyShare {
		return p.locks.For(st.Side).Acquire(ctx, st.Wait)
	}
	held, share, err := p.locks.AcquireAny(ctx, st.Wait)
	if err == nil && p.locks.Path(share) != folder(held.Path()) {
		p.brokenf("I1: thread %d was granted %s, and told that its share is %d", p.number, held.Path(), share)
	}
	return held, err
}

func (stripesOf) other(context.Context, *thread, Step) {}

// slots is the one of a lease, on the stripe in whose queue its node is.
func (stripesOf) slots(l *lease.Lease, _ Step) []*slot { return slotOfStripe(l) }

func slotOfStripe(l *lease.Lease) []*slot {
	if l == nil {
		return nil
	}
	lock := 0
	for folder(l.Path()) != path+"/"+znode.StripeDir(lock) {
		lock++
	}
	return []*slot{{lock: lock, lease: l, token: int64(l.Token())}}
}

// checkEntered checks that AcquireAny has re-entered a stripe that its context owns.
func (th *thread) checkEntered(s *slot, outer *tenure, st Step) {
	if st.Side != anyShare || s.inner {
		return
	}
	for t := outer; t != nil; t = t.outer {
		if t.lease.Err() == nil {
			th.brokenf("errors: thread %d was granted another share with the context of lease %d, which is valid", th.number, t.op.Lease)
		}
	}
}

func TestStripes(t *testing.T) { exploreAlone(t, "stripes") }
