package hold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/signal"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Several is a claim on several holds, which ends with the first of them. Add adds
// what was acquired; when that is complete Lease begins the claim, and it implements
// lease.Claim, which says what its methods do.
type Several struct {
	parts []part // in the order in which they were acquired

	over                signal.Signal
	revocationRequested signal.Signal
	stops               []func() // of what would give that

	ended atomic.Int32 // how many parts have

	mu       sync.Mutex
	loss     error // of the first that was lost
	released bool
}

// A part is the lease on one hold.
type part struct {
	*lease.Lease
	handle *Handle
	rank   int // among the tokens
}

// errNotOwned means that a lease cannot be a part.
var errNotOwned = fmt.Errorf("%w: its lease does not own the lock in its context", framework.ErrInvalidArgument)

// Add adds a lease that was acquired with ctx, which is the context of the lease added
// before, or derives from it. Its rank is the index of its token among all. first says
// that the owner has no other claim on the hold. On failure the lease is released.
func (s *Several) Add(ctx context.Context, l *lease.Lease, rank int) (first bool, err error) {
	handle := innermost(l.Context())
	if handle == nil || handle == innermost(ctx) {
		_ = l.ReleaseAsync()
		return false, errNotOwned
	}
	s.parts = append(s.parts, part{l, handle, rank})
	return handle.isFirst(), nil
}

// Lost reports whether one of them is over, before the claim has begun.
func (s *Several) Lost() bool {
	return slices.ContainsFunc(s.parts, func(p part) bool { return p.Err() != nil })
}

// KeepUntilDeleted has no slot handed over when it is released: whoever is next, also
// in the same session, is admitted by the deletion of its node.
func (s *Several) KeepUntilDeleted() {
	for _, p := range s.parts {
		h := p.handle.hold
		h.mu.Lock()
		h.keeps = true
		h.mu.Unlock()
	}
}

// Undo releases what was added, the last one first, if the claim does not begin. It
// waits for nothing.
func (s *Several) Undo() {
	for _, p := range slices.Backward(s.parts) {
		if p.Lease == &p.handle.lease {
			p.handle.discard()
		} else { // one around it, which may do more
			_ = p.Lease.ReleaseAsync()
		}
	}
}

// Lease begins the claim, and returns the lease on it.
func (s *Several) Lease() *lease.Lease {
	for _, p := range s.parts {
		s.stops = append(s.stops, p.handle.hold.revocationRequested.OnGive(s.revocationRequested.Give))
	}
	for i, p := range s.parts {
		OnEnd(p.Lease, func() {
			s.lost(i, p.handle.Err())
			if int(s.ended.Add(1)) == len(s.parts) {
				s.end() // their release may take its time
			}
		})
	}
	return lease.New(s)
}

// lost is called when a part is over. Unless the claim is released, it is lost then,
// and the other parts are given up.
func (s *Several) lost(which int, loss error) {
	s.mu.Lock()
	if s.released || s.loss != nil {
		s.mu.Unlock()
		return
	}
	s.loss = loss
	s.mu.Unlock()
	for i, p := range s.parts {
		if i != which {
			p.handle.giveUp(loss)
		}
	}
	s.end()
}

// end says that the claim is over.
func (s *Several) end() {
	for _, stop := range s.stops {
		stop()
	}
	s.over.Give()
}

// Context is that of the part that was added last, which derives from that of the one
// before, and so on: it ends with the first of them.
func (s *Several) Context() context.Context { return s.parts[len(s.parts)-1].Context() }

// Done is closed when the claim is over.
func (s *Several) Done() <-chan struct{} { return s.over.Done() }

// Token returns 0 if there are several parts.
func (s *Several) Token() lease.Token {
	if len(s.parts) > 1 {
		return 0
	}
	return s.parts[0].Token()
}

// Tokens returns those of all parts, by rank.
func (s *Several) Tokens() []lease.Token {
	tokens := make([]lease.Token, len(s.parts))
	for _, p := range s.parts {
		tokens[p.rank] = p.Token()
	}
	return tokens
}

// Path is the znode of the first by rank.
func (s *Several) Path() string {
	return s.parts[slices.IndexFunc(s.parts, func(p part) bool { return p.rank == 0 })].Path()
}

// Err asks all parts.
func (s *Several) Err() error {
	for i, p := range s.parts {
		if err := p.Err(); err != nil {
			s.lost(i, err) // who has found that out may not have come to that yet
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return fmt.Errorf("%s: %w", quote.Path(s.Path()), lease.ErrReleased)
	}
	return s.loss
}

// TrustedUntil is the earliest of all.
func (s *Several) TrustedUntil() time.Time {
	until := func(a, b part) int { return a.TrustedUntil().Compare(b.TrustedUntil()) }
	return slices.MinFunc(s.parts, until).TrustedUntil()
}

// Confirm asks for all at the same time. A znode that exists when it is asked for has
// existed since the grant: so all of them did at the first of these moments.
func (s *Several) Confirm(ctx context.Context) error {
	if err := s.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := s.each(func(l *lease.Lease) error {
		err := l.Confirm(ctx)
		if errors.Is(err, lease.ErrLost) {
			cancel() // the others do not matter any more
		}
		return err
	})
	if own := s.Err(); own != nil {
		return own
	}
	return err
}

// RevocationRequested is closed at the first request for one of the parts.
func (s *Several) RevocationRequested() <-chan struct{} { return s.revocationRequested.Done() }

// Check is about all znodes. There is no transaction for those of several clients.
func (s *Several) Check() framework.Op {
	client := kit.Of(s.parts[0].handle.hold.client)
	var all []framework.Op
	for _, p := range s.parts {
		if !client.SameClient(p.handle.hold.client) {
			return client.CheckExists(s.parts[0].Path(), func() error { return errSeveralClients })
		}
		all = append(all, p.Check())
	}
	return client.AllOf(all...)
}

// errSeveralClients is why a Check cannot be carried out.
var errSeveralClients = fmt.Errorf("%w: Check of a lease on the locks of several clients: no transaction can check all", framework.ErrInvalidArgument)

// Release releases all parts at the same time, so that it takes no longer than one.
func (s *Several) Release() error { return s.release((*lease.Lease).Release) }

// ReleaseAsync is Release that does not wait for the servers.
func (s *Several) ReleaseAsync() error { return s.release((*lease.Lease).ReleaseAsync) }

func (s *Several) release(one func(*lease.Lease) error) error {
	_ = s.Err() // it may have ended just now, by the clock
	s.mu.Lock()
	twice, loss := s.released, s.loss
	s.released = true
	s.mu.Unlock()
	if twice {
		return s.Err()
	}
	err := s.each(one)
	s.end()
	if loss != nil {
		return loss
	}
	return err
}

// each calls f for all parts at the same time, and returns one error, in one line.
func (s *Several) each(f func(*lease.Lease) error) (all error) {
	errs := make([]error, len(s.parts))
	var calls sync.WaitGroup
	for i, p := range s.parts {
		calls.Go(func() { errs[i] = f(p.Lease) })
	}
	calls.Wait()
	for _, err := range errs {
		switch {
		case err == nil:
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}
