package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// permitNumber is the value of --permits: N, "stored" or "stored:N".
type permitNumber struct {
	n      int  // 0: "stored" alone
	stored bool // what is stored counts, and n only where nothing is
}

var errNotPermits = errors.New(`not a whole number, "stored" or "stored:N"`)

// parsePermits reads the value of --permits.
func parsePermits(text string) (permitNumber, error) {
	if text == "stored" {
		return permitNumber{stored: true}, nil
	}
	digits, stored := strings.CutPrefix(text, "stored:")
	n, err := parseNumber(digits)
	if err != nil || stored && n == 0 {
		return permitNumber{}, errNotPermits
	}
	return permitNumber{n, stored}, nil
}

// isValid reports whether a semaphore can have that number of permits.
func (p permitNumber) isValid() bool {
	return p.n >= 1 && p.n <= math.MaxInt32 || p == permitNumber{stored: true}
}

// semaphoreOptions are those for --permits. Curator's layout has no lock-delay.
func (f *runFlags) semaphoreOptions() []semaphore.Option {
	opts := []semaphore.Option{semaphore.WithHolder(f.label), semaphore.WithMaxHold(f.maxHold.value), semaphore.WithMinHold(f.minHold.value)}
	if f.lockDelay.value > 0 {
		opts = append(opts, semaphore.WithSingleQueue(), semaphore.WithLockDelay(f.lockDelay.value))
	}
	if f.permits.value.stored {
		opts = append(opts, semaphore.WithStoredSize())
	}
	return opts
}

// A sizedQueue lists the queue of a semaphore, and knows how many permits there were
// then: what is stored may be another number than that of --permits.
type sizedQueue struct {
	*semaphore.Semaphore
	size atomic.Int64
}

func (q *sizedQueue) contenders(ctx context.Context) ([]lease.Contender, error) {
	size, err := q.Size(ctx)
	if err != nil {
		return nil, err
	}
	q.size.Store(int64(size))
	return q.Contenders(ctx)
}

// mustWait reports whether a newcomer would wait for the queue that was listed last.
func (q *sizedQueue) mustWait(queue []lease.Contender) bool {
	return int64(len(queue)) >= max(q.size.Load(), 1)
}
