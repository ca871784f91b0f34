package queue

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A view is what one session knows of one queue: the newest listing, without the
// contenders that it knows to be deleted since that was sent. All positions of the
// session in the queue share it, with its requests and watches.
//
// Why a decision by it is right. Let L be the listing, W a position that L shows, and
// let all contenders ahead of W that the policy waits for be known to be deleted.
//
//   - Nothing is created ahead of W after L: numbers grow. If the parent is deleted and
//     made again they start anew, but W is deleted before its parent. The one exception
//     is what Queue.Recheck is for: then L must not show the deleted node any more.
//   - A deletion is known by the answer to a delete, by the event of a watch, or by a
//     read that finds no node. Each is final: a name is used once. If a name is used
//     again after all, as names without a random id may be, the next listing shows it,
//     and a listing counts as it is, except for what was learned after it was sent.
//   - W exists at the moment of the last of these deletions, or later: L shows none of
//     the deleted nodes, or the watch on W is set and has not fired. That is looked at
//     after the last deletion is known. The server sends events and answers in the
//     order of the changes, and over one connection they arrive in that order.
//   - So L, the deletions and the watch belong to one connection. When that breaks, the
//     view is void. The next listing is behind a sync, and shows W again. The watch on
//     W was set again before that, on the same connection, if it has not fired.
//
// Besides, a node of this session may count before its deletion is known: see Over.
//
// A position knows that its node is deleted only by the event, by a read, or by a
// listing that was sent after the answer to its create.
//
// Package queuemodel of internal/proof searches all states of a model of this.
type view struct {
	all      *views
	key      viewKey
	client   *framework.Client // pinned to session
	session  *framework.Session
	path     string                           // in the namespace of the client
	recheck  func(self, gone znode.Name) bool // may be nil
	kinds    []string
	unlisten func()
	lister   *framework.Client // the same, which says what fails
	pause    time.Duration     // between slow looks
	users    int               // guarded by all.mu
	crowd    *crowd            // while it is used
	joins    chan struct{}     // full while as many creates as may be are under way

	mu             sync.Mutex // guards what follows. Nothing of the session is called under it, but Go: see unlock
	closed         bool
	clock          uint64                 // counts what happens, to order it
	listed         uint64                 // when the listing was sent; 0: there is none
	broken         <-chan struct{}        // closed if the connection of the listing broke
	size           int                    // of the listing, in contenders
	names          []znode.Name           // these, in order
	end            znode.Name             // the last of them that is kept, zero if all are: see trim
	gone           map[string]znode.Name  // of those, the ones that are deleted; never the first
	others         []string               // children that do not contend
	reduced        bool                   // the listing showed one that is known to be deleted
	rechecks       []znode.Name           // deletions that another listing may have to follow: see Queue.Recheck
	voided         uint64                 // the listing counts only if it was sent after this
	granted        string                 // the node that was, of this session, the last one that hands its slot over
	over           map[string]slotOver    // nodes of this session that were released
	confirms       bool                   // the server has refused such a delete: there is no hand-over any more
	nodes          map[string]*node       // which are watched or waited for
	urgent, toRead []*node                // to be read, in order
	reading        int                    // how many are being read
	own            map[string]*Position   // by the id in the name of the node
	dependents     map[*Position]struct{} // which depend on something outside the queue
	slow           *time.Timer            // until the next slow look

	// Of the listing that is under way.
	listing bool
	listDue bool                 // it is to be sent when the lock is given back
	sent    uint64               // when
	failure error                // of its last attempt; nil if none has failed
	facts   []deletion           // learned of since then
	wanting map[*Position]uint64 // woken when a listing is answered that was sent after that
}

// A deletion is what was learned of a node.
type deletion struct {
	gone  znode.Name
	again bool // another listing may have to follow
}

// tick returns a new moment. The caller has the lock.
func (v *view) tick() uint64 {
	v.clock++
	return v.clock
}

// now returns the present moment.
func (v *view) now() uint64 {
	v.mu.Lock()
	defer v.unlock()
	return v.clock
}

// valid reports whether there is a listing that counts: nothing has voided it, and its
// connection has not broken.
func (v *view) valid() bool { return v.listed > v.voided && !closed(v.broken) }

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// Deleted learns that a child of the queue is deleted.
func (v *view) Deleted(child string) {
	v.mu.Lock()
	defer v.unlock()
	v.learn(child)
}

// learn records that a node is deleted, and wakes those that wait for it. A name
// without a random id may be in use again already, so it takes another listing to say.
// The caller has the lock.
func (v *view) learn(child string) {
	_, released := v.over[child]
	delete(v.over, child)
	if n := v.nodes[child]; n != nil {
		v.forget(n)
	}
	name, ok := znode.Parse(child, v.kinds...)
	if !ok || v.closed || v.knowsOf(name) {
		return
	}
	when := v.tick() // a rule that was asked before is too old: see Dependency
	if !isUnique(name) {
		v.voided = when
		return
	}
	d := deletion{name, v.recheck != nil && v.recheck(name, name) && !released}
	if v.listing {
		v.facts = append(v.facts, d)
	}
	v.remove(d)
}

// knowsOf reports whether it was known already that a node is deleted: a deletion is
// learned of twice where an answer follows the event. The caller has the lock.
func (v *view) knowsOf(name znode.Name) bool {
	if _, listed := v.find(name); listed {
		return v.isGone(name)
	}
	return !v.listing
}

// isUnique reports whether a name has a random id before its kind: then it is used
// once. go-zookeeper writes it without hyphens.
func isUnique(name znode.Name) bool {
	const id = len("_c_") + 32 + len("-")
	return len(name.Node) >= id+len(name.Kind)+znode.SequenceDigits && strings.HasPrefix(name.Node, "_c_")
}

// remove takes a node out of the listing, if that shows it. Names at the front leave it
// at once, others when they come to be there, or when there are many.
func (v *view) remove(d deletion) {
	at, found := v.find(d.gone)
	if !found {
		return
	}
	v.reduced = true
	if d.again {
		v.rechecks = append(v.rechecks, d.gone)
	}
	switch {
	case at > 0:
		if v.gone == nil {
			v.gone = map[string]znode.Name{}
		}
		v.gone[d.gone.Node] = d.gone
		if len(v.gone) > goneLimit {
			v.names, v.gone = slices.DeleteFunc(slices.Clone(v.names), v.isGone), nil
		}
	default:
		for v.names = v.names[1:]; len(v.names) > 0 && v.isGone(v.names[0]); v.names = v.names[1:] {
			delete(v.gone, v.names[0].Node)
		}
	}
}

// goneLimit bounds how many deleted names are in a listing.
const goneLimit = 64

func (v *view) isGone(name znode.Name) bool {
	if len(v.gone) == 0 {
		return false
	}
	_, gone := v.gone[name.Node]
	return gone
}

// find returns the index of a name.
func (v *view) find(name znode.Name) (at int, found bool) {
	return slices.BinarySearchFunc(v.names, name, znode.Compare)
}

// ahead returns the contenders before an index that are not known to be deleted.
func (v *view) ahead(at int) Ahead { return Ahead{names: v.names[:at], gone: v.gone} }

// count returns how many there are.
func (v *view) count(at int) int {
	n := at
	for _, gone := range v.gone {
		if gone.Before(v.names[at]) {
			n--
		}
	}
	return n
}
