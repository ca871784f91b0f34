package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

const (
	// completionLimit is how long a shell waits for paths.
	completionLimit = time.Second
	// mostCompleted is how many nodes are listed: the answer of the server has the
	// names of all of them.
	mostCompleted = 1000
)

// completePath prints the paths that begin with a text. It prints no error: a shell
// would show that in the middle of the line that is being written. It does not wait for
// what is still under way after the limit, such as the end of the session: that ends
// with the process.
func (p *program) completePath(begin string, words []string) error {
	found := make(chan []string, 1)
	go func() { found <- p.pathsFrom(begin, words) }()
	select {
	case paths := <-found:
		if len(paths) == 0 {
			return nil
		}
		_, err := p.stdout.WriteString(strings.Join(paths, "\n") + "\n")
		return err
	case <-time.After(completionLimit):
		return nil
	}
}

// sequential matches the names of sequential nodes.
var sequential = regexp.MustCompile(`-?[0-9]{10}$`)

var errTooMany = errors.New("too many nodes")

// pathsFrom returns the paths that begin with a text, nil if that fails.
func (p *program) pathsFrom(begin string, words []string) (paths []string) {
	conn := &connection{}
	fs := flag.NewFlagSet("completion", flag.ContinueOnError)
	conn.register(fs)
	if p.parse(fs, onlyFlagsOf(fs, words)) != nil {
		return nil
	}
	conn.timeout = option[time.Duration]{completionLimit, true}
	parent := cmp.Or(begin, "/")
	parent = parent[:strings.LastIndexByte(parent, '/')+1]
	if framework.ValidatePath(parent+"child") != nil {
		return nil
	}
	err := p.withClient(fs, conn, parent, func(ctx context.Context, client *framework.Client, full string) error {
		exists, stat, err := client.Exists(ctx, full)
		switch {
		case err != nil || !exists:
			return err
		case stat.NumChildren > mostCompleted:
			return errTooMany
		}
		names, _, err := client.Children(ctx, full)
		for _, name := range names {
			path := parent + name
			if strings.HasPrefix(path, begin) && !sequential.MatchString(name) && shellWord(path) == path {
				paths = append(paths, path)
			}
		}
		return err
	})
	if err != nil {
		return nil
	}
	slices.Sort(paths)
	return paths
}

// onlyFlagsOf returns the flags in a command line that a set has, with their values.
// The line may be unfinished, and have flags of a verb, of which nothing is known.
func onlyFlagsOf(fs *flag.FlagSet, words []string) (args []string) {
	for i := 0; i < len(words) && words[i] != "--"; i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		f := fs.Lookup(name)
		if f == nil || words[i][0] != '-' {
			continue
		}
		if args = append(args, words[i]); !hasValue && !isSwitch(f) && i+1 < len(words) {
			i++
			args = append(args, words[i])
		}
	}
	return args
}
