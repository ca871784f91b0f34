package interop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// turns acquires something, holds it and releases it, once.
type turns func(ctx context.Context, l *ledger) error

// recipes make a contender. A loss during a turn is one of its expected errors.
var recipes = map[string]func(*framework.Client, contestant, *rand.Rand) (turns, error){
	"mutex":     mutexTurns,
	"rwlock":    readWriteTurns,
	"semaphore": semaphoreTurns,
	"leader":    leaderTurns,
	"multilock": multiLockTurns,
}

func mutexTurns(client *framework.Client, c contestant, rng *rand.Rand) (turns, error) {
	m, err := mutex.New(client, c.Path)
	return func(ctx context.Context, l *ledger) error {
		return l.turn(ctx, m, note{Kind: "mutex", Permits: 1}, rng)
	}, err
}

// turn acquires, holds and releases one lease.
func (l *ledger) turn(ctx context.Context, a lease.Acquirer, n note, rng *rand.Rand) (err error) {
	if n.Asked, err = monotonic(); err != nil {
		return err
	}
	held, err := a.Acquire(ctx, waitLimit(rng))
	if err != nil {
		return err
	}
	kept := l.keep(held, n, rng)
	if rng.IntN(3) == 0 {
		return errors.Join(kept, held.ReleaseAsync())
	}
	return errors.Join(kept, held.Release())
}

// keep holds a lease.
func (l *ledger) keep(held *lease.Lease, n note, rng *rand.Rand) error {
	h, err := l.begin(n, held)
	if err != nil {
		return err
	}
	return errors.Join(h.linger(span(rng)), h.end())
}

// readWriteTurns reads, writes, or downgrades.
func readWriteTurns(client *framework.Client, c contestant, rng *rand.Rand) (turns, error) {
	lock, err := rwlock.New(client, c.Path)
	return func(ctx context.Context, l *ledger) error {
		switch choice := rng.IntN(10); {
		case choice < 6:
			return l.turn(ctx, lock.Read(), note{Kind: "read", Permits: 1}, rng)
		case choice < 9:
			return l.turn(ctx, lock.Write(), note{Kind: "write", Permits: 1}, rng)
		}
		return l.downgrade(ctx, lock, rng)
	}, err
}

// downgrade writes, and releases the write lock when it reads.
func (l *ledger) downgrade(ctx context.Context, lock *rwlock.Lock, rng *rand.Rand) error {
	asked, err := monotonic()
	if err != nil {
		return err
	}
	writing, err := lock.Write().Acquire(ctx, waitLimit(rng))
	if err != nil {
		return err
	}
	h, err := l.begin(note{Kind: "write", Permits: 1, Asked: asked}, writing)
	if err != nil {
		return errors.Join(err, writing.Release())
	}
	err = h.linger(span(rng))
	reading, err2 := lock.Read().Acquire(writing.Context(), waitLimit(rng))
	err = errors.Join(err, err2, h.end(), writing.Release())
	if reading != nil {
		n := note{Kind: "read", Permits: 1, Asked: asked, Under: h.id}
		err = errors.Join(err, l.keep(reading, n, rng), reading.Release())
	}
	return err
}

func semaphoreTurns(client *framework.Client, c contestant, rng *rand.Rand) (turns, error) {
	s, err := semaphore.New(client, c.Path, c.Size)
	return func(ctx context.Context, l *ledger) error {
		n := 1 + rng.IntN(c.Most)
		return l.turn(ctx, s.Weight(n), note{Kind: "semaphore", Permits: n}, rng)
	}, err
}

// leaderTurns leads for one term, by Acquire or by Lead. Now and then it makes a
// contender in Go the next leader before that.
func leaderTurns(client *framework.Client, c contestant, rng *rand.Rand) (turns, error) {
	id := func(number int) string { return fmt.Sprintf("%s-%d", goSide, number) }
	election, err := leader.New(client, c.Path, leader.WithID(id(c.number)))
	return func(ctx context.Context, l *ledger) error {
		if rng.IntN(4) == 0 {
			if err := makeNext(ctx, election, id(rng.IntN(c.Contenders))); err != nil {
				return err
			}
		}
		n := note{Kind: "leader", Permits: 1}
		if rng.IntN(2) == 0 {
			return l.turn(ctx, election, n, rng)
		}
		asked, err := monotonic()
		if err != nil {
			return err
		}
		n.Asked = asked
		return election.Lead(ctx, func(_ context.Context, term *lease.Lease) error {
			if err := l.keep(term, n, rng); err != nil {
				return errors.Join(leader.ErrStop, err)
			}
			return leader.ErrStop
		})
	}, err
}

// makeNext makes a contender the next leader, if that is possible soon.
func makeNext(ctx context.Context, election *leader.Election, id string) error {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	_, err := election.MakeNext(ctx, id)
	for _, usual := range []error{leader.ErrNotPassed, leader.ErrNoCandidate, leader.ErrStepsBack, leader.ErrLeadsAlready, ctx.Err()} {
		if usual != nil && errors.Is(err, usual) {
			return nil
		}
	}
	return err
}
