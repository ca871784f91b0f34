package interop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A fault is what happens to the processes of a contest.
type fault struct {
	name  string
	kills []string      // sides
	pause time.Duration // of the Go process; Java's holders would not notice, see Ledger.java
	after time.Duration // since the one before
	held  bool          // while the first process that it hits holds something
}

func (f fault) String() string {
	s := f.name
	if f.pause > 0 {
		s += fmt.Sprintf(" for %v", f.pause)
	}
	if f.held {
		s += " while it holds"
	}
	return s
}

// kinds are the faults that there are.
var kinds = []fault{
	{name: "kill Go", kills: []string{goSide}},
	{name: "kill Java", kills: []string{javaSide}},
	{name: "kill both", kills: []string{goSide, javaSide}},
	{name: "pause Go"},
}

// A schedule orders faults: all kinds in each round, in random order.
type schedule struct {
	rng  *rand.Rand
	left []fault
}

func (s *schedule) next() fault {
	if len(s.left) == 0 {
		s.left = slices.Clone(kinds)
		s.rng.Shuffle(len(s.left), func(i, j int) { s.left[i], s.left[j] = s.left[j], s.left[i] })
	}
	f := s.left[0]
	s.left = s.left[1:]
	f.after = time.Duration(s.rng.IntN(3000)) * time.Millisecond
	f.held = s.rng.IntN(3) > 0
	if len(f.kills) == 0 {
		f.pause = contestSession + time.Duration(500+s.rng.IntN(1500))*time.Millisecond
	}
	return f
}

// storm causes faults until ctx or the span ends. If the span is enough for all kinds
// of faults, it goes on until each has happened.
func (c *contest) storm(ctx context.Context, span time.Duration) error {
	window, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	faults := schedule{rng: rand.New(rand.NewPCG(c.seed, 0))}
	for {
		f, open := faults.next(), window
		if span >= enough && len(c.counts) < len(kinds) {
			open = ctx
		}
		if retry.Sleep(open, f.after) != nil {
			return context.Cause(ctx)
		}
		if err := c.suffer(ctx, f); err != nil {
			return fmt.Errorf("after %v: %w", f, err)
		}
	}
}

// suffer causes one fault, and waits until all contenders go on.
func (c *contest) suffer(ctx context.Context, f fault) error {
	hit := c.now[goSide]
	if f.pause == 0 {
		hit = c.now[f.kills[0]]
	}
	if f.held {
		if err := c.await(ctx, hit.name+" holds nothing", func(h *history) bool { return h.holds(hit.name) }); err != nil {
			return err
		}
	}
	c.counts[f.name]++
	c.log("%v, of %s", f, hit.name)
	if f.pause > 0 {
		return c.pause(ctx, hit, f.pause)
	}
	for _, side := range f.kills {
		if err := c.now[side].kill(); err != nil {
			return err
		}
	}
	for _, side := range f.kills {
		if err := c.start(ctx, side); err != nil {
			return err
		}
	}
	return c.goOn(ctx, sides...)
}

// pause stops a Go process for that long, by a timer, since no event tells that its
// session has ended. Java goes on without it, and both go on when it is resumed.
func (c *contest) pause(ctx context.Context, p *contender, d time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pause %s: %w", p.name, err)
	}
	if err := retry.Sleep(ctx, d); err != nil {
		return err
	}
	if err := c.goOn(ctx, javaSide); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("resume %s: %w", p.name, err)
	}
	return c.goOn(ctx, sides...)
}

// goOn waits until each contender of these sides' present processes has had a new
// grant.
func (c *contest) goOn(ctx context.Context, sides ...string) error {
	since, err := monotonic()
	if err != nil {
		return err
	}
	var names []string
	for _, side := range sides {
		for i := range contenders {
			names = append(names, fmt.Sprintf("%s %s-%d", c.now[side].name, side, i))
		}
	}
	var stuck []string
	err = c.await(ctx, "some are stuck", func(h *history) bool {
		stuck = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return h.last[name] > since })
		return len(stuck) == 0
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.Join(stuck, ", "))
	}
	c.log("all contenders of %s go on", strings.Join(sides, " and "))
	return nil
}
