package inspect

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/internal/records"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A LitterKind says what is left behind.
type LitterKind string

// The kinds of what is left behind.
const (
	// LitterEmpty is a node that had children, and has none: the parent of a queue that
	// nobody uses. Servers remove it within about a minute if it is a container, as all
	// parents that this module makes where the servers support them.
	LitterEmpty LitterKind = "empty"
	// LitterNeverUsed is a node without data that never had a child. Before ZooKeeper
	// 3.10 servers do not remove it, even if it is a container, unless
	// znode.container.maxNeverUsedIntervalMs is set.
	LitterNeverUsed LitterKind = "never-used"
	// LitterNotEphemeral is the node of a contender that belongs to no session: it
	// holds, or waits, until somebody deletes it.
	LitterNotEphemeral LitterKind = "not-ephemeral"
	// LitterBadName is a node that begins like that of a contender, with an id, but
	// does not end in a number, and belongs to no session. No recipe counts it.
	LitterBadName LitterKind = "bad-name"
	// LitterEnded is a queue without contenders that has records of holders that have
	// ended without a release, so that the next contender waits for the lock-delay.
	LitterEnded LitterKind = "ended"
	// LitterRecords is a job that has nearly as many records as it may have.
	LitterRecords LitterKind = "records"
	// LitterNumbers is a node that has nearly used up the sequence numbers of its
	// children.
	LitterNumbers LitterKind = "numbers"
)

// LitterNumbers and LitterRecords are shown when nine tenths are used. 2,147,483,647 is
// the greatest sequence number.
const (
	numbersMax = math.MaxInt32
	numbersEnd = numbersMax / 10 * 9
	recordsMax = records.Max
	recordsEnd = recordsMax / 10 * 9
)

// How long an empty node must have been left, to be certain that servers do not remove
// it: they look once a minute, from ZooKeeper 3.10 on for one that was never used as
// well, but only after five minutes.
const (
	emptyFor     = 2 * time.Minute
	neverUsedFor = 10 * time.Minute
)

// A Litter is something that is left behind.
type Litter struct {
	// Kind says what it is.
	Kind LitterKind
	// Path is that of the node: that of a queue for LitterEnded, that of a job for
	// LitterRecords.
	Path string
	// Certain is false if it may go by itself: an empty node may be a container that
	// the servers remove. They do not tell which nodes are.
	Certain bool
	// Since is a time, by the server's clock. For LitterEmpty it had no children any
	// more then, for LitterEnded the first of the holders was granted its lease. For
	// other nodes it is when they were made. It is zero if nothing that was read tells.
	Since time.Time
	// Used is how many of Max are used: sequence numbers or records. For LitterEnded it
	// is how many holders there are. Both are 0 for the other kinds.
	Used, Max int64
}

// A LitterSurvey is what FindLitter found.
type LitterSurvey struct {
	// Litter is what is left behind, sorted by path.
	Litter []Litter
	// Nodes is how many nodes were listed: all but those of contenders and records.
	Nodes int
	// Unreadable are the paths that the client may not read, sorted.
	Unreadable []string
}

// FindLitter finds what is left behind below a path: see LitterKind. It changes
// nothing. The node at the path itself is not called empty: it may be a folder for
// locks. Of each queue it reads the first 16 nodes, since one that nobody removes comes
// to the front in the end.
//
// Errors: those of Locks.
func FindLitter(ctx context.Context, client *framework.Client, path string) (*LitterSurvey, error) {
	s := &search{walk: walk{client: client, denied: new(denied), keepsNames: true, records: map[string][]string{}}}
	s.visit = s.see
	if err := s.from(ctx, path); err != nil {
		return nil, err
	}
	for _, find := range []func(context.Context) error{s.findNotEphemeral, s.findEnded, s.findFullJobs, s.findEmpty} {
		if err := find(ctx); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.found, func(a, b Litter) int { return cmp.Compare(a.Path, b.Path) })
	return &LitterSurvey{Litter: s.found, Nodes: s.nodes, Unreadable: s.denied.sorted()}, nil
}

// A search finds what is left behind.
type search struct {
	walk
	found []Litter
	nodes int
	times times

	empty  []listed // had children, and have none
	unused []listed // never had children, and have no data
	jobs   []string // with very many records
	idle   []string // have a lock-delay and no contenders
}

// see looks at a node that was listed.
func (s *search) see(l listed) {
	s.nodes++
	s.times.add(l.stat)
	_, name := split(l.path)
	made := int64(uint32(l.stat.Cversion+l.stat.NumChildren) >> 1) // Cversion counts deletions as well
	if slices.ContainsFunc(l.children, isUnordered) {
		made = numbersMax
	}
	if made >= numbersEnd {
		s.found = append(s.found, Litter{Kind: LitterNumbers, Path: l.path, Certain: true, Used: made, Max: numbersMax})
	}
	if name == znode.RecordsDir && l.stat.NumChildren >= recordsEnd {
		s.jobs = append(s.jobs, l.path)
	}
	if slices.Contains(l.children, znode.LockDelayDir) && !contendersIn(l, atThePath...) {
		s.idle = append(s.idle, l.path)
	}
	if len(l.children) > 0 || l.path == s.root || l.stat.EphemeralOwner != 0 {
		return
	}
	switch {
	case l.stat.Cversion != 0:
		s.empty = append(s.empty, l)
	case isBadName(name):
		s.found = append(s.found, Litter{Kind: LitterBadName, Path: l.path, Certain: true, Since: l.stat.Ctime})
	case l.stat.DataLength == 0:
		s.unused = append(s.unused, l)
	}
}

// isUnordered reports whether a node was made when the numbers had ended.
func isUnordered(child string) bool {
	name, contends := znode.Parse(child, znode.All...)
	return contends && !name.Ordered()
}

// isBadName reports whether a node was to be that of a contender.
func isBadName(name string) bool {
	if _, marked := protection.Of(name); !marked {
		return false
	}
	return slices.ContainsFunc(znode.All, func(kind string) bool {
		return strings.HasPrefix(name[protection.Before:], kind)
	})
}
