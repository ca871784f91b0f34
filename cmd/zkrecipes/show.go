package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A showing is the output of "show --json".
type showing struct {
	Lock           string      `json:"lock"`
	Exists         bool        `json:"exists"`
	State          lockState   `json:"state"`
	Holders        []standing  `json:"holders"`
	HoldersLeftOut int         `json:"holders_left_out"`
	Waiting        []standing  `json:"waiting"` // and those of whom it is not known whether they hold
	WaitingLeftOut int         `json:"waiting_left_out"`
	Semaphore      *permits    `json:"semaphore"`
	Stripes        *stripes    `json:"stripes"`
	Job            *records    `json:"job"`
	Delays         []lockDelay `json:"lock_delays"`
	Others         []string    `json:"others"`

	listing *listing
}

// A standing is a contender, with all that is known about it.
type standing struct {
	queueEntry
	Granted *time.Time `json:"granted"`              // what it holds; nil if that is not known
	Revoked *time.Time `json:"revocation_requested"` // the first request; nil if there is none
	Holds   []string   `json:"holds"`                // paths of the znodes of leases that it held when it joined
	Within  []string   `json:"within"`               // sessions whose command has started it
	GivesUp bool       `json:"gives_up"`             // may leave the queue without having been told to

	path string // of its znode, with the chroot
}

// showFlags is what the command line of "show" says.
type showFlags struct {
	connection
	output
	all bool
}

func (f *showFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("show", flag.ContinueOnError)
	f.connection.register(fs)
	f.output.register(fs)
	fs.BoolVar(&f.all, "all", false, "")
	return fs
}

// shownAtOnce is how many holders, and how many that wait, are shown without --all.
const shownAtOnce = 10

// show prints all that is known about one lock.
func (p *program) show(args []string) error {
	f := &showFlags{}
	fs := f.flagSet()
	path, err := p.parseWithPath(fs, args)
	if err != nil {
		return err
	}
	as, err := f.format("show")
	if err != nil {
		return err
	}
	return p.withClient(fs, &f.connection, path, func(ctx context.Context, client *framework.Client, full string) error {
		most := shownAtOnce
		if f.all {
			most = math.MaxInt
		}
		found, err := inspect.Heads(ctx, client, full, most)
		if err != nil {
			return err
		}
		all := newShowing(path, strings.TrimSuffix(full, path), found)
		if err := all.addDetails(ctx, client); err != nil {
			return err
		}
		if as == asJSON {
			return p.printJSON(all)
		}
		_, err = io.WriteString(p.stdout, all.text(as, p.pageOf()))
		return err
	})
}

// newShowing describes what was found at a path, which is given without the chroot.
func newShowing(path, chroot string, found *inspect.Survey) *showing {
	l := newListing(path, found)
	s := &showing{
		Lock: path, Exists: l.Exists, State: l.state(), Holders: []standing{}, Waiting: []standing{},
		Semaphore: l.Semaphore, Stripes: l.Stripes, Job: l.Job, Delays: l.Delays, Others: l.Others, listing: l,
	}
	for _, q := range found.Queues {
		for i, c := range q.Contenders {
			to := &s.Waiting
			if c.State == inspect.Held {
				to = &s.Holders
			}
			*to = append(*to, newStanding(q, i, chroot))
		}
	}
	s.HoldersLeftOut = l.holders
	s.WaitingLeftOut = l.LeftOut - l.holders
	return s
}

func newStanding(q inspect.Queue, at int, chroot string) standing {
	c := q.Contenders[at]
	s := standing{queueEntry: newQueueEntry(q, at), Holds: []string{}, Within: []string{}, GivesUp: c.GivesUp, path: c.Path}
	for _, node := range c.Holds {
		s.Holds = append(s.Holds, cmp.Or(strings.TrimPrefix(node, chroot), "/"))
	}
	for _, id := range c.Within {
		s.Within = append(s.Within, hexSession(id))
	}
	return s
}

// addDetails reads of those that are shown what a survey does not: when each was
// granted what it holds, and whether it has been asked to release that.
func (s *showing) addDetails(ctx context.Context, client *framework.Client) error {
	err := inParallel(len(s.Holders), func(i int) error {
		return cmp.Or(s.Holders[i].addRevocation(ctx, client), s.Holders[i].addGranted(ctx, client, len(s.Delays) > 0))
	})
	if err != nil {
		return err
	}
	return inParallel(len(s.Waiting), func(i int) error { return s.Waiting[i].addRevocation(ctx, client) })
}

// addRevocation reads the request for revocation, which is the last thing that is
// written to a node. A node that has gone since is shown as it was.
func (s *standing) addRevocation(ctx context.Context, client *framework.Client) error {
	data, stat, err := client.Get(ctx, s.path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	if err == nil && znode.RevocationRequested(data) {
		at := stat.Mtime.UTC()
		s.Revoked = &at
	}
	return err
}

// addGranted finds out since when it holds. Servers store no such time, except where
// the grant itself makes a node: the record that a lock-delay needs, and the permit of
// a client of ours. Curator makes a permit before it knows that there is one for it.
func (s *standing) addGranted(ctx context.Context, client *framework.Client, recorded bool) error {
	if s.isPermit() {
		if (s.Who != "" || s.Host != "" || s.PID != 0) && !s.Since.IsZero() {
			s.Granted = &s.Since
		}
		return nil
	}
	if !recorded {
		return nil
	}
	exists, stat, err := client.Exists(ctx, znode.HolderRecord(s.path))
	if err != nil {
		return fmt.Errorf("since when %s holds: %w", s.Node, err)
	}
	if exists && stat.EphemeralOwner == 0 { // else it is a contender at that path, which is another lock
		at := stat.Ctime.UTC()
		s.Granted = &at
	}
	return nil
}

// isPermit reports whether the node is a permit in Curator's layout: it has not been in
// the queue.
func (s *standing) isPermit() bool {
	_, permit := znode.Parse(s.Node, znode.Permit)
	return permit && s.Kind == lease.KindSemaphore
}
