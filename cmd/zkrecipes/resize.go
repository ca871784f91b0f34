package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// resizeFlags is what the command line of "resize" says.
type resizeFlags struct {
	connection
	path   string
	number int
	json   bool
}

// A resizing is the output of "resize --json".
type resizing struct {
	Lock   string `json:"lock"`
	Kind   string `json:"kind"`   // lease.KindSemaphore, or kindStripes
	Before int    `json:"before"` // the number that was replaced
	After  int    `json:"after"`
}

// kindStripes is the kind of a path with stripes.
const kindStripes = "stripes"

func (f *resizeFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("resize", flag.ContinueOnError)
	f.register(fs)
	fs.BoolVar(&f.json, "json", false, "")
	return fs
}

// resize changes how many permits a semaphore has, or how many stripes a path.
func (p *program) resize(args []string) error {
	f := &resizeFlags{}
	fs := f.flagSet()
	if err := f.parse(p, fs, args); err != nil {
		return err
	}
	return p.withClient(fs, &f.connection, f.path, func(ctx context.Context, client *framework.Client, full string) error {
		r := &resizing{Lock: f.path, After: f.number}
		if err := r.change(ctx, client, full); err != nil {
			return explainResize(f.path, err)
		}
		if f.json {
			return p.printJSON(r)
		}
		return printLine(p.stdout, r.String())
	})
}

// parse parses the flags and the two arguments.
func (f *resizeFlags) parse(p *program, fs *flag.FlagSet, args []string) (err error) {
	if err := p.parse(fs, args); err != nil {
		return err
	}
	switch n := fs.NArg(); {
	case n < 2:
		return usageErrorf("resize: give the path and the new number, as in: zkrecipes resize /locks/import 5")
	case n > 2:
		return usageErrorf("resize: only one path at a time: what is %q?", fs.Arg(2))
	}
	f.path = fs.Arg(0)
	if err := checkPath("resize", f.path); err != nil {
		return err
	}
	if f.number, err = parseNumber(fs.Arg(1)); err != nil {
		return usageErrorf("resize: %q: %v", fs.Arg(1), err)
	}
	if f.number < 1 || f.number > math.MaxInt32 {
		return usageErrorf("resize: %d: there is at least one permit or stripe, and there are at most %d permits and %d stripes", f.number, math.MaxInt32, striped.MaxStripes)
	}
	return nil
}

// change finds out what the path stores, and changes it, unless it is the number
// already.
//
// A semaphore's number is replaced by a compare-and-set, so Before is the one that this
// request has replaced, and data that is not such a number, or a path that is gone, is
// found when it is written. That of stripes may change only while all are held: see
// striped.Locks.Resize, which refuses if the number is not Before any more.
func (r *resizing) change(ctx context.Context, client *framework.Client, path string) error {
	if err := client.Sync(ctx, path); err != nil {
		return err
	}
	if err := checkSized(ctx, client, path); err != nil {
		return err
	}
	for {
		err := client.Update(ctx, path, r.replace)
		if err != nil || r.Kind != kindStripes || r.Before == r.After {
			return err
		}
		if err := r.changeStripes(ctx, client, path); !errors.Is(err, striped.ErrSizeMismatch) {
			return err
		} // another client has changed it meanwhile
	}
}

// replace is the change of a compare-and-set. It leaves the number of stripes as it is.
func (r *resizing) replace(data []byte, _ framework.Stat) (next []byte, write bool, err error) {
	if n, ok := znode.ParseStripes(data); ok {
		r.Kind, r.Before = kindStripes, n
		if r.After > striped.MaxStripes {
			return nil, false, usageErrorf("there are at most %d stripes", striped.MaxStripes)
		}
		return nil, false, nil
	}
	n, ok := znode.ParseSize(data)
	switch {
	case znode.IsUnset(data):
		return nil, false, errNoNumber
	case !ok:
		return nil, false, usageErrorf("it stores %s, which is no number of permits or stripes", quote.Excerpt(data))
	}
	r.Kind, r.Before, next = lease.KindSemaphore, n, znode.Size(r.After)
	if _, ok := znode.ParseSize(next); !ok {
		return nil, false, usageErrorf("%d permits: stored, that would be the text %s", r.After, quote.Excerpt(next))
	}
	return next, n != r.After, nil
}

// errNoNumber means that the path of no semaphore, and of no stripes, is given, or that
// its clients store no number.
var errNoNumber = &usageError{"it stores no number of permits or stripes: the first run with --permits N or --stripes N stores it " +
	"(Java's InterProcessSemaphoreV2 does so only with a SharedCount; else each client has a number of its own)"}

// checkSized refuses a path of which a lock or an election is in use, whatever it
// stores.
func checkSized(ctx context.Context, client *framework.Client, path string) error {
	children, _, err := client.Children(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return usageErrorf("there is no such node: the first run with --permits N or --stripes N creates it, with that number")
	}
	if i := slices.IndexFunc(children, contendsDirectly); i >= 0 {
		return usageErrorf("it is the path of a lock or an election, which has no number: %s waits for it, or holds it", quote.Cell(children[i]))
	}
	return err
}

// contendsDirectly reports whether a child contends for something that has no number.
func contendsDirectly(child string) bool {
	_, ok := znode.Parse(child, znode.Mutex, znode.Reader, znode.Writer, znode.Latch)
	return ok
}

// changeStripes waits for all stripes, and changes the number while it holds them. A
// signal that ends the wait leaves no stripe behind.
func (r *resizing) changeStripes(ctx context.Context, client *framework.Client, path string) error {
	locks, err := striped.New(client, path, r.Before, striped.WithHolder("zkrecipes resize"))
	if err != nil {
		return err
	}
	limit := forever
	if end, ok := ctx.Deadline(); ok { // a part of the time is for the change itself
		left := time.Until(end)
		limit = max(left-min(listLimit, left/4), time.Millisecond)
	}
	return untilInterrupted(ctx, func(ctx context.Context) error {
		_, err := locks.Resize(ctx, r.After, limit)
		return cmp.Or(errors.Unwrap(err), err) // without "resize PATH", which is the command
	})
}

// untilInterrupted runs f, and ends its context when a signal asks zkrecipes to end. It
// returns what f does: that may have succeeded all the same.
func untilInterrupted(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 8)
	watchSignals(signals)
	defer signal.Stop(signals)
	return cancelledBySignal(ctx, cancel, signals, f)
}

// explainResize says whether the number may have changed.
func explainResize(path string, err error) error {
	usage := (*usageError)(nil)
	switch {
	case errors.As(err, &usage):
		return usageErrorf("%s: %s", path, usage.text)
	case errors.Is(err, framework.ErrNoNode):
		return usageErrorf("%s: its node has been removed, and the number with it", path)
	case errors.Is(err, framework.ErrUnknownOutcome):
		return fmt.Errorf("%s: it is not known whether the number has changed, try again: %w", path, unanswered("%v", err))
	case errors.Is(err, framework.ErrNoAuth):
		return fmt.Errorf("%s: only with the credentials of its users: %w", path, err)
	}
	return err
}

// String says what has changed.
func (r *resizing) String() string {
	what := kindStripes
	if r.Kind == lease.KindSemaphore {
		what = "permits"
	}
	if r.Before == r.After {
		return fmt.Sprintf("%s: %d %s already, nothing was changed", r.Lock, r.After, what)
	}
	return fmt.Sprintf("%s: %d %s, %d before", r.Lock, r.After, what, r.Before)
}
