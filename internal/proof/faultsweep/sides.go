package faultsweep

import (
	"context"
	"errors"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// side returns what is acquired the nth time, as a function of the seed: the read or
// the write side of a read-write lock.
func (r *run) side(c *framework.Client, n int) lease.Acquirer {
	if r.plan.Recipe.Readers != nil && r.plan.Seed*0x9e3779b97f4a7c15>>(n%64)&1 == 1 {
		return r.plan.Recipe.Readers(c, path)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recipes == nil {
		r.recipes = map[*framework.Client]lease.Acquirer{}
	}
	if r.recipes[c] == nil { // one for each client: it may count
		r.recipes[c] = r.plan.Recipe.New(c, path)
	}
	return r.recipes[c]
}

// downgrade downgrades most writers. It returns the lease to go on with, or nil.
func (r *run) downgrade(name string, c *framework.Client, l *lease.Lease) *lease.Lease {
	recipe := r.plan.Recipe
	if recipe.Readers == nil || recipe.Shares(l) {
		return l
	}
	switch l.Token() % 4 {
	case 0:
		return l
	case 1:
		return r.downgradeRace(name, c, l)
	}
	reading, err := recipe.Readers(c, path).Acquire(l.Context(), lease.Forever)
	switch {
	case err == nil:
	case errors.Is(err, lease.ErrLost) && l.Err() != nil, errors.Is(err, context.Cause(l.Context())):
		return l
	default:
		r.brokenf("errors: a downgrade of %s failed with %v", name, err)
		return l
	}
	r.recordDowngrade(name, l, reading)
	if again, err := recipe.New(c, path).Acquire(reading.Context(), 0); err == nil {
		r.own(again, l)
		r.grant(name, again)
		r.release(name, again)
	} else if l.Err() == nil && reading.Context().Err() == nil {
		r.brokenf("errors: a downgraded writer could not re-enter the write lock: %v", err)
	}
	r.release(name, l)
	if _, err := recipe.New(c, path).Acquire(reading.Context(), 0); err == nil || errors.Is(err, lease.ErrTimeout) {
		r.brokenf("errors: %s, a reader, acquired the write lock and got %v", name, err)
	}
	return reading
}

// downgradeRace releases a writer's lease during a downgrade. If the release is first,
// the reader waits in the queue.
func (r *run) downgradeRace(name string, c *framework.Client, l *lease.Lease) *lease.Lease {
	released := make(chan struct{})
	go func() {
		r.release(name, l)
		close(released)
	}()
	reading, err := r.plan.Recipe.Readers(c, path).Acquire(context.WithoutCancel(l.Context()), waitLimit)
	if err == nil && r.delays != nil {
		r.delays.Granted(reading)
	}
	<-released
	switch {
	case err == nil && reading.Token() == l.Token():
		r.recordDowngrade(name, l, reading)
	case err == nil:
		info, _ := r.server.Node(reading.Path())
		r.mu.Lock()
		r.owners[reading] = info.EphemeralOwner
		r.mu.Unlock()
		r.grant(name, reading)
	case errors.Is(err, lease.ErrLost), strings.HasPrefix(name, quitter) && errors.Is(err, framework.ErrClosed):
	default:
		r.brokenf("errors: a downgrade of %s during a release failed with %v", name, err)
	}
	return reading
}

// recordDowngrade records and checks the lease of a reader that was a writer.
func (r *run) recordDowngrade(name string, writing, reading *lease.Lease) {
	r.own(reading, writing)
	r.mu.Lock()
	r.report.Downgrades++
	r.mu.Unlock()
	info, ok := r.server.Node(reading.Path())
	if reading.Token() != writing.Token() || ok && info.Czxid <= int64(writing.Token()) {
		r.brokenf("I2: a writer of %s has token %d, and %d after its downgrade", name, writing.Token(), reading.Token())
	}
	if !ok && !r.anyForced() && reading.Err() == nil {
		r.brokenf("I1: %s downgraded to a reader whose node does not exist", name)
	}
	r.grant(name, reading)
}

// own records that a lease is of the same session as another.
func (r *run) own(l, other *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners[l] = r.owners[other]
}

// release releases a lease beside which there is another.
func (r *run) release(name string, l *lease.Lease) {
	r.releasing(l)
	if err := l.Release(); err != nil && !errors.Is(err, lease.ErrLost) {
		r.brokenf("errors: a release of %s, which still reads, failed with %v", name, err)
	}
	r.look()
}
