package faultsweep

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// config returns the configuration of a client. Its random numbers depend on the plan's
// seed only.
func (r *run) config(name string) framework.Config {
	cfg := conformance.Config(r.server, name)
	cfg.Observers = []framework.Observer{r.observed.Observer()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.random == nil {
		r.random = map[string]io.Reader{}
	}
	if r.random[name] == nil {
		seed := sha256.Sum256(fmt.Appendf(nil, "%d %s", r.plan.Seed, name))
		r.random[name] = rand.NewChaCha8(seed)
	}
	kit.SetRandom(&cfg, r.random[name])
	// No two timers of a client should fire at once, because their order is random.
	cfg.Reconnect, cfg.Retry = retry.Constant(50900*time.Microsecond), retry.Constant(47300*time.Microsecond)
	return cfg
}

// client runs one client of the plan.
func (r *run) client(ctx context.Context, i int) {
	name := clientName(i)
	c, err := framework.Connect(ctx, r.config(name))
	if err != nil {
		r.working.Done()
		r.brokenf("I4: %s could not connect: %v", name, err)
		return
	}
	defer func() {
		r.closing(c)
		r.working.Done()
		if r.plan.Linger {
			r.working.Wait()
			// Not at a moment at which a timer of a client fires: the order would be
			// random.
			<-time.After(time.Duration(i+1) * 3300 * time.Microsecond)
		}
		_ = c.Close()
	}()
	switch {
	case r.plan.Lead:
		r.lead(ctx, name, c, i)
		return
	case r.plan.Next:
		r.campaign(ctx, name, c)
		return
	}
	for round := range r.plan.Rounds {
		if i < r.plan.Impatient {
			r.impatient(ctx, c, name, i+round+int(r.plan.Seed/4%4))
		}
		began := time.Now()
		l, err := r.side(c, i+2*round).Acquire(ctx, lease.Forever)
		if err != nil {
			r.brokenf("I4: %s in round %d, after %v: %v", name, round, time.Since(began), err)
			return
		}
		r.hold(name, c, l, r.plan.Hold)
	}
}

// recordGrant checks a lease that was granted just now.
func (r *run) recordGrant(name string, l *lease.Lease) {
	info, ok := r.server.Node(l.Path())
	r.mu.Lock()
	r.report.Grants++
	r.owners[l] = info.EphemeralOwner
	r.mu.Unlock()
	if ok && info.Czxid != int64(l.Token()) {
		r.brokenf("I2: %s has token %d, its node %d", name, l.Token(), info.Czxid)
	}
	ok = r.checkParts(name, l) && ok
	if !ok && !r.anyForced() && l.Err() == nil {
		r.brokenf("I1: %s was granted a node that does not exist", name)
	}
	r.grant(name, l)
}

// hold holds a lease for that time, and releases it.
func (r *run) hold(name string, c *framework.Client, l *lease.Lease, d time.Duration) {
	r.recordGrant(name, l)
	for third := range 3 {
		if third == 1 {
			if l = r.downgrade(name, c, l); l == nil {
				return
			}
		}
		timer := time.NewTimer(d / 3)
		select {
		case <-timer.C:
		case <-l.Context().Done():
		}
		timer.Stop()
		if !r.plan.Lean {
			r.confirm(name, l)
		}
		r.look()
	}
	r.releasing(l)
	began := time.Now()
	err := l.Release()
	if err != nil && !errors.Is(err, lease.ErrLost) {
		r.brokenf("errors: release failed with %v", err)
	}
	if err == nil && (time.Since(began) > 0 || r.plan.Recipe.Async) {
		// A delete of the node may begin now in the background. To close the client now
		// would race with it.
		<-time.After(1700 * time.Microsecond)
	}
	if err != nil && !strings.HasPrefix(name, quitter) { // which loses its lease by its own Close
		r.mu.Lock()
		r.report.Lost++
		r.mu.Unlock()
	}
	r.look()
}

// confirm confirms the lease in the middle of the work.
func (r *run) confirm(name string, l *lease.Lease) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 313*time.Millisecond, errCancelled)
	defer cancel()
	err := l.Confirm(ctx)
	switch {
	case err == nil, errors.Is(err, errCancelled), errors.Is(err, framework.ErrUnknownOutcome):
		// The lease is valid, or there was no answer.
	case errors.Is(err, lease.ErrLost):
		if l.Err() == nil {
			r.brokenf("I1: Confirm says that the lease of %s is lost, but it is valid", name)
		}
	default:
		r.brokenf("errors: confirm failed with %v", err)
	}
}
