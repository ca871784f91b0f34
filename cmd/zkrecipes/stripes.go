package main

import (
	"context"
	"flag"
	"fmt"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// stripe is what a job with --stripes acquires.
const stripe = "stripe"

// stripeFlags are the flags for one of several stripes: that of a key, or any of them.
type stripeFlags struct {
	stripes option[int]
	key     option[string]
}

func (f *stripeFlags) register(fs *flag.FlagSet) {
	fs.Func("stripes", "", f.stripes.set(parseNumber))
	fs.Func("key", "", f.key.set(parseText))
}

// checkStripes finds the mistakes that show without a server.
func (f *runFlags) checkStripes() error {
	switch n := f.stripes.value; {
	case f.key.given && !f.stripes.given && !f.once.given:
		return f.mistake("--key without --stripes (or, for run, --once PATH in place of --lock): give --stripes N as well, the same N for all keys")
	case !f.stripes.given:
		return nil
	case n < 1 || n > striped.MaxStripes:
		return f.mistake("--stripes %d: there is at least one stripe, and at most %d", n, striped.MaxStripes)
	case f.shared:
		return f.mistake("--shared and --stripes contradict each other: each stripe has one holder at a time")
	case f.write:
		return f.mistake("--write and --stripes contradict each other")
	case f.permits.given:
		return f.mistake("--permits and --stripes contradict each other: both let N run at a time; with --stripes each is told which of the N it is")
	case len(f.paths) > 1:
		return f.mistake("--stripes with several paths: give one path, which is that of all stripes")
	case f.key.given && f.key.value == "":
		return f.mistake("--key is empty; without --key it takes any stripe that is free")
	}
	return nil
}

// stripeName names a stripe in messages.
func stripeName(number int, path string) string { return fmt.Sprintf("stripe %d of %s", number, path) }

// A stripeLease is a lease on a stripe that may be any.
type stripeLease struct {
	heldLease
	number int
}

// newStripes returns the stripe of the key, or any stripe.
func (f *runFlags) newStripes(client *framework.Client) (recipe, error) {
	at := f.paths[0]
	all, err := striped.New(client, at, f.stripes.value, striped.WithHolder(f.label), striped.WithMaxHold(f.maxHold.value),
		striped.WithMinHold(f.minHold.value), striped.WithLockDelay(f.lockDelay.value))
	if err != nil {
		return recipe{}, err
	}
	c := recipe{path: at, kind: lease.KindMutex, stripes: f.stripes.value}
	if f.key.given {
		return f.stripeOfKey(client, all, c)
	}
	c.acquire = func(ctx context.Context, timeout time.Duration) (heldLease, error) {
		held, number, err := all.AcquireAny(ctx, timeout)
		if err != nil {
			return nil, err
		}
		return stripeLease{held, number}, nil
	}
	queues := make([]*mutex.Mutex, c.stripes)
	for i := range queues {
		if queues[i], err = mutex.New(client, all.Path(i)); err != nil {
			return recipe{}, err
		}
	}
	c.contenders = func(ctx context.Context) ([]lease.Contender, error) { return contendersOfAll(ctx, queues) }
	c.mustWait = func(queue []lease.Contender) bool { return stripesIn(queue) >= len(queues) }
	return c, nil
}

// stripeOfKey completes the recipe for the stripe of the key.
func (f *runFlags) stripeOfKey(client *framework.Client, all *striped.Locks, c recipe) (recipe, error) {
	number := all.Index(f.key.value)
	queue, err := mutex.New(client, all.Path(number))
	if err != nil {
		return recipe{}, err
	}
	c.acquire, c.stripe = acquireFrom(all.For(f.key.value)), &number
	c.contenders, c.mustWait = queue.Contenders, anyContender
	return c, nil
}

// name names what is acquired, in messages.
func (c recipe) name() string {
	switch {
	case c.stripe != nil:
		return stripeName(*c.stripe, c.path)
	case c.run != nil:
		return runName(c.run.text, c.path)
	}
	return c.path
}

// isAnyStripe reports whether it is any of some stripes, each of which has a queue.
func (c recipe) isAnyStripe() bool { return c.stripes > 0 && c.stripe == nil }

// contendersOfAll lists the queues of all stripes as one: first those that hold, in the
// order of the stripes. Where some stripe is free, it need not list all.
func contendersOfAll(ctx context.Context, queues []*mutex.Mutex) (all []lease.Contender, err error) {
	var waiting []lease.Contender
	for some := range slices.Chunk(queues, atATime) {
		listed := make([][]lease.Contender, len(some))
		if err := inParallel(len(some), func(i int) (err error) {
			listed[i], err = some[i].Contenders(ctx)
			return err
		}); err != nil {
			return nil, err
		}
		free := false
		for _, queue := range listed {
			if len(queue) == 0 {
				free = true
				continue
			}
			all, waiting = append(all, queue[0]), append(waiting, queue[1:]...)
		}
		if free {
			break
		}
	}
	return append(all, waiting...), nil
}

// stripesIn counts the stripes that have a contender.
func stripesIn(queue []lease.Contender) int {
	dirs := map[string]bool{}
	for _, c := range queue {
		dirs[path.Dir(c.Path)] = true
	}
	return len(dirs)
}

// atATime is how many requests about stripes are under way at a time.
const atATime = 16

// inParallel calls do for 0 to n-1, and returns an error if one of the calls does.
func inParallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	for begin := 0; begin < n; begin += atATime {
		var calls sync.WaitGroup
		for i := begin; i < min(begin+atATime, n); i++ {
			calls.Go(func() { errs[i] = do(i) })
		}
		calls.Wait()
		if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
			return errs[i]
		}
	}
	return nil
}

// describeAll describes the queues of all stripes, none of which is free.
func (c recipe) describeAll(queue []lease.Contender) string {
	return fmt.Sprintf("all %d are held, %d ahead; stripe 0 is held by %s", c.stripes, len(queue), describeHolder(queue[0]))
}

// nameHolders is nameHolder for any of some stripes: who is ahead at each counts, as
// for the permits of a semaphore.
func (c recipe) nameHolders(queue []lease.Contender, timeout *lease.TimeoutError, err error) error {
	if !c.mustWait(queue) {
		return fmt.Errorf("%w (by now a stripe is free)", err)
	}
	named := *timeout
	named.Ahead, named.Node, named.Holder = len(queue), queue[0].Node, queue[0].Holder
	return &named
}

// stripeNumbers are that of the stripe that is held or wanted, or all, if it may be
// any.
func (j *job) stripeNumbers() []int {
	if number := j.report.stripe.Load(); number != nil {
		return []int{*number}
	}
	all := make([]int, j.recipe.stripes)
	for i := range all {
		all[i] = i
	}
	return all
}

// withStripe adds the number of the stripe that is held, nil if there is none.
func (e environ) withStripe(number *int) environ {
	if number == nil {
		return e
	}
	return e.with([]string{envLockStripe}, []string{strconv.Itoa(*number)})
}
