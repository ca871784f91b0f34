package conformance

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Delays follows the nodes of the leases of a recipe with a lock-delay or a minimum
// hold time, and their records, on the server. It says for a Referee which slots are
// closed, and checks that
//
//   - while a lease is valid, its holder is recorded
//   - the node of a lease that is released stands until the minimum hold time is over
//   - at the end no record is left but those of unclean ends
type Delays struct {
	// Server is the one that the clients use.
	Server *zktest.Server
	// LockDelay and MinHold are those of the recipe; 0 is none.
	LockDelay, MinHold time.Duration
	// Excuse is that of the Referee.
	Excuse func(*lease.Lease) bool

	mu      sync.Mutex
	nodes   map[string]*contender // by their paths
	living  []*contender          // those whose nodes exist, as far as is known
	delayed []*contender          // those whose records were there when their nodes were gone
	closed  map[int64]bool        // sessions that lived until Close of their clients
	quit    map[int64]bool        // sessions whose clients are closed at any time
	faults  []string
}

// A contender is a node in a queue that was seen or granted.
type contender struct {
	node    string
	session int64
	leases  []*lease.Lease // on it
	open    []*lease.Lease // of these, those that are not released
	granted time.Time      // the first
	gone    time.Time      // when the node was first seen to be gone
	clean   bool           // the last lease was released while it was valid, or when Close had ended it
	either  bool           // the end may be clean or not: see Releasing
}

func (c *contender) record() string { return znode.HolderRecord(c.node) }

// Observe is called for each call of a client to the server. queues are the paths of
// the queues.
func (d *Delays) Observe(c zktest.Call, queues ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.LockDelay > 0 && c.Phase == zktest.PhaseAfterApply && (c.Op == zktest.OpCreate || c.Op == zktest.OpMulti) {
		for _, queue := range queues {
			for _, child := range d.Server.Children(queue) {
				if node := queue + "/" + child; d.nodes[node] == nil {
					if info, _ := d.Server.Node(node); info.EphemeralOwner != 0 {
						d.contender(node)
					}
				}
			}
		}
	}
	d.lookAtNodes()
}

// contender returns that of a node. The caller has the lock.
func (d *Delays) contender(node string) *contender {
	if known := d.nodes[node]; known != nil {
		return known
	}
	info, _ := d.Server.Node(node)
	c := &contender{node: node, session: info.EphemeralOwner}
	if d.nodes == nil {
		d.nodes = map[string]*contender{}
	}
	d.nodes[node] = c
	d.living = append(d.living, c)
	return c
}

// lookAtNodes records which nodes are gone. The caller has the lock.
func (d *Delays) lookAtNodes() {
	d.living = slices.DeleteFunc(d.living, func(c *contender) bool {
		if _, exists := d.Server.Node(c.node); exists {
			return false
		}
		c.gone = time.Now()
		if _, recorded := d.Server.Node(c.record()); recorded {
			d.delayed = append(d.delayed, c)
		}
		if rest := c.granted.Add(d.MinHold).Sub(c.gone); rest > 0 && c.clean && d.lives(c.session) && !d.quit[c.session] && !c.lost() && !slices.ContainsFunc(c.leases, d.excused) {
			d.faultf("the node of %s was deleted %v before the minimum hold time was over", c.node, rest)
		}
		return true
	})
}

func (d *Delays) excused(l *lease.Lease) bool { return d.Excuse != nil && d.Excuse(l) }

// lost reports whether a lease of the contender was lost.
func (c *contender) lost() bool {
	return slices.ContainsFunc(c.leases, func(l *lease.Lease) bool { return l.Err() != nil && !errors.Is(l.Err(), lease.ErrReleased) })
}

// Granted is called with a lease that was granted just now. It may be called again.
func (d *Delays) Granted(l *lease.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.contender(l.Path())
	if len(c.leases) == 0 {
		c.granted = time.Now()
	}
	if !slices.Contains(c.leases, l) {
		c.leases, c.open = append(c.leases, l), append(c.open, l)
	}
	d.look()
}

// Releasing is called with a lease just before it is released, or when the work under
// it has ended. It may be called again.
//
// A multi-lock that has lost another lock gives up its claim on this one. If other
// leases share the slot, it goes on, and is free when all of them are released; but the
// claim may be let go sooner than its user releases it, which is no clean end.
func (d *Delays) Releasing(l *lease.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.contender(l.Path())
	if !slices.Contains(c.open, l) {
		return
	}
	c.open = slices.DeleteFunc(c.open, func(other *lease.Lease) bool { return other == l })
	err := l.Err()
	c.either = c.either || len(c.leases) > 1 && errors.Is(err, lease.ErrMemberLost)
	c.clean = len(c.open) == 0 && (err == nil || errors.Is(err, framework.ErrClosed))
}

// Look checks the records of all leases that are valid.
func (d *Delays) Look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
}

func (d *Delays) look() {
	d.lookAtNodes()
	if d.LockDelay == 0 {
		return
	}
	for _, c := range d.living {
		_, recorded := d.Server.Node(c.record())
		if !recorded && slices.ContainsFunc(c.open, func(l *lease.Lease) bool { return l.Err() == nil && !d.excused(l) }) {
			d.faultf("the holder with node %s is not recorded", c.node)
		}
	}
}

// Lingers is that of a Referee: the lease is over, or may be, and its end was unclean
// less than a lock-delay ago, or it was released before the minimum hold time was over.
func (d *Delays) Lingers(l *lease.Lease) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lookAtNodes()
	switch c := d.nodes[l.Path()]; {
	case c == nil, c.either:
		return false
	case c.clean:
		return c.gone.IsZero() && time.Since(c.granted) < d.MinHold && !c.lost()
	default:
		return d.LockDelay > 0 && (c.gone.IsZero() || time.Since(c.gone) < d.LockDelay)
	}
}

// Unclean returns how many ends a later contender may have had to wait for.
func (d *Delays) Unclean() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.delayed {
		if ended := c.clean || len(c.leases) == 0; !ended || !d.closed[c.session] {
			n++
		}
	}
	return n
}

// Closing is called when a client that has released all leases is closed, with its
// session. It waits for what the client may still do in the background, but not for
// ever: until its minimum hold times are over, and its records deleted.
func (d *Delays) Closing(session int64, limit time.Duration) {
	for until := time.Now().Add(limit); time.Now().Before(until) && d.releases(session); {
		<-time.After(11300 * time.Microsecond)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed == nil {
		d.closed = map[int64]bool{}
	}
	d.closed[session] = d.lives(session)
	d.quitLocked(session)
}

// Quitting is called when a client is closed, with its session, whatever it holds.
func (d *Delays) Quitting(session int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quitLocked(session)
}

func (d *Delays) quitLocked(session int64) {
	if d.quit == nil {
		d.quit = map[int64]bool{}
	}
	d.quit[session] = true
}

// lives reports whether the servers have a session.
func (d *Delays) lives(session int64) bool {
	return slices.ContainsFunc(d.Server.Sessions(), func(s zktest.SessionInfo) bool { return s.ID == session })
}

// releases reports whether a session has yet to delete the node of a lease that is
// released, or the record of one, or of a position that was given up.
func (d *Delays) releases(session int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lookAtNodes()
	for _, c := range d.nodes {
		_, recorded := d.Server.Node(c.record())
		rests := c.clean && c.gone.IsZero()
		if c.session == session && (rests || recorded && (c.clean || !c.gone.IsZero() && len(c.leases) == 0)) {
			return d.lives(session)
		}
	}
	return false
}

// CheckLeft checks the records that are left below queues when all clients are closed.
func (d *Delays) CheckLeft(queues ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, queue := range queues {
		for _, child := range d.Server.Children(queue + "/" + znode.LockDelayDir) {
			c := d.nodes[queue+"/"+child]
			switch {
			case c == nil:
				d.faultf("the record %s is of no node", child)
			case c.either:
			case d.closed[c.session] && (c.clean || len(c.leases) == 0) && !slices.ContainsFunc(c.leases, d.excused):
				d.faultf("the record of %s is left, although no lease on it has ended uncleanly", c.node)
			}
		}
	}
}

func (d *Delays) faultf(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf(format, args...))
}

// Faults returns what broke the rules.
func (d *Delays) Faults() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Compact(slices.Clone(d.faults))
}
