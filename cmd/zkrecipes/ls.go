package main

import (
	"context"
	"errors"
	"flag"
	"io"
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
	printed := f.json || f.chosen.given || f.limit.given
	switch {
	case err != nil:
		return "", err
	case f.quiet && (printed || f.watch || f.cycles || f.recursive):
		return "", usageErrorf("ls: --quiet prints nothing: it contradicts --output, --json, --limit, --watch, --cycles and --recursive")
	case f.recursive && f.cycles:
		return "", usageErrorf("ls: --recursive and --cycles print different things: give one of them")
	case (f.cycles || f.recursive) && (f.watch || f.limit.given || as == asWide):
		return "", usageErrorf("ls: --cycles and --recursive print no queue: they contradict --watch, --limit and --output %s", asWide)
	case f.interval.given && !f.watch:
		return "", usageErrorf("ls: --interval is for --watch")
	case f.interval.value == 0:
		return "", usageErrorf("ls: --interval 0 would never rest")
	case f.limit.value < 0:
		return "", usageErrorf("ls: --limit %d: %v", f.limit.value, errNegative)
	}
	return as, nil
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
		return p.lsRecursive(fs, &f.connection, path, as == asJSON)
	}
	if err == nil && f.cycles {
		return p.lsCycles(fs, &f.connection, path, as == asJSON)
	}
	if err == nil {
		err = checkLockPath("ls", path)
	}
	switch {
	case err != nil:
		return err
	case f.watch:
		return p.lsWatch(f, path, as)
	}
	return p.withClient(fs, &f.connection, path, func(ctx context.Context, client *framework.Client, full string) error {
		s, err := inspect.Path(ctx, client, full)
		if err != nil {
			return err
		}
		l, on := newListing(path, s), p.pageOf()
		switch {
		case f.quiet && l.state() == stateFree:
			return errFree
		case f.quiet:
			return nil
		}
		if l.cut(f.most(as, on)); as == asJSON {
			return p.printJSON(l)
		}
		_, err = io.WriteString(p.stdout, l.text(as, on))
		return err
	})
}

// most returns how many contenders are listed, 0 for all. Programs get all unless they
// are told otherwise.
func (f *lsFlags) most(as format, on page) int {
	if !f.limit.given && on.columns > 0 && as != asJSON {
		return usualLimit
	}
	return f.limit.value
}
