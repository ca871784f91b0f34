package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"math"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
)

// errFree is the answer of "ls --quiet" that changes the exit code. It is not printed.
var errFree = errors.New("free")

// lsFlags is what the command line of "ls" says.
type lsFlags struct {
	connection
	output
	cycles, recursive, quiet, watch bool
	interval                        option[time.Duration]
	limit                           option[int]
}

// usualLimit is how many contenders are listed on a terminal, unless --limit says
// otherwise.
const usualLimit = 50

// usualInterval is how long a watch waits from one look to the next one.
const usualInterval = 2 * time.Second

func (f *lsFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("ls", flag.ContinueOnError)
	f.connection.register(fs)
	f.output.register(fs)
	f.interval.value = usualInterval
	fs.BoolVar(&f.cycles, "cycles", false, "")
	fs.BoolVar(&f.recursive, "recursive", false, "")
	fs.BoolVar(&f.quiet, "quiet", false, "")
	fs.BoolVar(&f.watch, "watch", false, "")
	fs.Func("interval", "", f.interval.set(parseDuration))
	fs.Func("limit", "", f.limit.set(parseNumber))
	return fs
}

// check returns how to print, or an error for flags that make no sense together.
func (f *lsFlags) check() (format, error) {
	as, err := f.format("ls")
	instead := cmp.Or(nameIf(f.recursive, "--recursive"), nameIf(f.cycles, "--cycles"))
	about := cmp.Or(nameIf(f.watch, "--watch"), nameIf(f.limit.given, "--limit"))
	printed := cmp.Or(nameIf(f.chosen.given, "--output"), nameIf(f.json, "--json"), about, instead)
	switch {
	case err != nil:
		return "", err
	case f.quiet && printed != "":
		return "", usageErrorf("ls: --quiet and %s contradict each other: one prints nothing, the other says what", printed)
	case f.recursive && f.cycles:
		return "", usageErrorf("ls: --recursive and --cycles print different things: give one of them")
	case instead != "" && about != "":
		return "", usageErrorf("ls: %s and %s contradict each other: only the queue of one lock can be watched or cut", instead, about)
	case f.interval.given && !f.watch:
		return "", usageErrorf("ls: --interval is for --watch")
	case f.interval.value == 0:
		return "", usageErrorf("ls: --interval 0 would never rest")
	case f.limit.value < 0:
		return "", usageErrorf("ls: --limit %d: %v", f.limit.value, errNegative)
	}
	return as, nil
}

// nameIf returns the name of a flag if it is given.
func nameIf(given bool, name string) string {
	if given {
		return name
	}
	return ""
}

// ls prints the holders and the waiting clients below a path.
func (p *program) ls(args []string) error {
	f := &lsFlags{}
	fs := f.flagSet()
	path, err := p.parseWithArgument(fs, args)
	if err != nil {
		return err
	}
	as, err := f.check()
	if err == nil && f.recursive {
		return p.lsRecursive(fs, &f.connection, path, as)
	}
	if err == nil && f.cycles {
		return p.lsCycles(fs, &f.connection, path, as)
	}
	if err == nil {
		err = checkListedPath(path)
	}
	switch {
	case err != nil:
		return err
	case f.watch:
		return p.lsWatch(f, path, as)
	}
	return p.withClient(fs, &f.connection, path, func(ctx context.Context, client *framework.Client, full string) error {
		on := p.pageOf()
		l, err := listingOf(ctx, client, path, full, f.most(as, on))
		switch {
		case err != nil:
			return err
		case f.quiet && l.state() == stateFree:
			return errFree
		case f.quiet:
			return nil
		case as == asJSON:
			return p.printJSON(l)
		}
		_, err = io.WriteString(p.stdout, l.text(as, on))
		return err
	})
}

// checkListedPath is checkLockPath for "ls", which can list all locks as well.
func checkListedPath(path string) error {
	err := checkLockPath("ls", path)
	if err != nil && (path == "" || path == "/") {
		return usageErrorf("%v; for all that is in use: zkrecipes ls --recursive", err)
	}
	return err
}

// listingOf lists the first n contenders at a path, which is given without the chroot
// and with it.
func listingOf(ctx context.Context, client *framework.Client, path, full string, n int) (*listing, error) {
	s, err := inspect.Heads(ctx, client, full, n)
	if err != nil {
		return nil, err
	}
	l := newListing(path, s)
	l.cut(n)
	return l, nil
}

// most returns how many contenders are listed. Programs get all unless they are told
// otherwise.
func (f *lsFlags) most(as format, on page) int {
	switch {
	case f.quiet:
		return 0 // names are enough
	case !f.limit.given && on.columns > 0 && as != asJSON:
		return usualLimit
	}
	return cmp.Or(f.limit.value, math.MaxInt)
}
