package queue

import (
	"cmp"
	"slices"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A crowd is all positions that one client has in one queue, in whichever session. Few
// of them can be admitted soon: no position is admitted while a position of the client
// is ahead of it that waits for a slot which excludes all others. So only the front of
// the crowd takes part in the queue, with the listings, reads and watches that this
// takes. The others have their nodes, which keep their place, and send nothing and know
// nothing until they belong to the front.
//
// This only delays requests. A position that comes to the front has a listing behind
// its create, as a newcomer has, and decides by that. Nor does it wait in vain: those
// at the front wait for contenders ahead of them alone, and when one of them ends,
// however it does, the next one behind the front is woken.
//
// What it does not do: it does not learn that the own node is deleted, before the
// position belongs to the front.
type crowd struct {
	all   *crowds
	key   viewKey
	front int // how many belong to it
	users int // guarded by all.mu

	mu      sync.Mutex
	waiting []*Position // for slots that exclude all others, in the order of their tokens
	behind  []*Position // the front, also in that order
	shown   int64       // the greatest token of those that a listing has shown
}

// frontSize is how many positions that wait for slots which exclude all others belong
// to the front. They are enough to have found out what is ahead of them by the time
// that they are the next.
const frontSize = 64

// listedFronts is how many times the front a listing is kept for. With more, positions
// that come to the front seldom need another listing; with fewer, memory is saved.
const listedFronts = 16

// crowds are those of one client. A few that have no position are kept, as views are.
type crowds struct {
	mu    sync.Mutex
	all   map[viewKey]*crowd
	front int
}

type crowdsKey struct{}

func newCrowds() any { return &crowds{all: map[viewKey]*crowd{}, front: frontSize} }

func crowdsOf(client *framework.Client) *crowds {
	return kit.Of(client).Kept(nil, crowdsKey{}, newCrowds).(*crowds) //nolint:forcetypeassert // of newCrowds
}

// SetFront is for tests: it has so many positions of a client belong to the front of
// each crowd that is made from now on.
func SetFront(client *framework.Client, n int) {
	all := crowdsOf(client)
	all.mu.Lock()
	defer all.mu.Unlock()
	all.front = n
}

// use returns that of a queue.
func (all *crowds) use(key viewKey) *crowd {
	all.mu.Lock()
	defer all.mu.Unlock()
	c := all.all[key]
	if c == nil {
		c = &crowd{all: all, key: key, front: all.front}
		all.all[key] = c
	}
	c.users++
	return c
}

// leave ends one use of the crowd.
func (c *crowd) leave() {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if c.users--; c.users == 0 && len(c.all.all) > unusedViews {
		delete(c.all.all, c.key)
	}
}

// isFull reports whether a newcomer will not belong to the front.
func (c *crowd) isFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) >= c.front
}

// waits reports whether there is a position that waits for a slot which excludes all
// others.
func (c *crowd) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) > 0
}

// enter records a position that has a node.
func (c *crowd) enter(p *Position) {
	if !p.HandsOver() {
		return // others may be admitted beside it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = insert(c.waiting, p)
}

// exit forgets a position whose wait has ended, and wakes those that belong to the
// front now.
func (c *crowd) exit(p *Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.behind = remove(c.waiting, p), remove(c.behind, p)
	for len(c.behind) > 0 && !c.isBehind(c.behind[0]) {
		c.behind[0].notify()
		c.behind[0] = nil
		c.behind = c.behind[1:]
	}
}

// staysBehind reports whether a position does not belong to the front. It is woken when
// it does.
func (c *crowd) staysBehind(p *Position) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isBehind(p) {
		return false
	}
	c.behind = insert(c.behind, p)
	return true
}

// isBehind is for a caller that has the lock.
func (c *crowd) isBehind(p *Position) bool {
	return len(c.waiting) >= c.front && c.waiting[c.front-1].token < p.token
}

// last returns the last position for which a listing is kept, if there are more.
func (c *crowd) last() (self znode.Name, some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := listedFronts * c.front
	if len(c.waiting) <= n {
		return self, false
	}
	return c.waiting[n-1].self, true
}

// locate records how many contenders a listing shows ahead of each position. It goes
// through both once: there may be too many for a search for each.
func (c *crowd) locate(names []znode.Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := 0
	for _, p := range c.waiting {
		for at < len(names) && names[at].Before(p.self) {
			at++
		}
		if at < len(names) && names[at].Node == p.self.Node {
			c.record(p, at)
		}
	}
}

// saw records how many contenders are ahead of a position of the front.
func (c *crowd) saw(p *Position, ahead int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record(p, ahead)
}

// record is saw for a caller that has the lock.
func (c *crowd) record(p *Position, ahead int) {
	p.ahead = int32(ahead) //nolint:gosec // of names that were in one answer
	c.shown = max(c.shown, p.token)
}

// ahead returns how many contenders are ahead of a position, as far as the client
// knows: those that a listing has shown ahead of it, or of the nearest of the crowd
// that it has shown, and those of the crowd between. It also returns the view of the
// first of the crowd, nil if there is none.
func (c *crowd) ahead(p *Position) (n int, first *view) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own, _ := find(c.waiting, p.token)
	if own > 0 {
		first = c.waiting[0].view
	}
	if p.ahead >= 0 {
		return int(p.ahead), first
	}
	return c.aheadOf(own), first
}

// aheadOf is that for an index that no listing has shown. It need not look at those
// that came after all that a listing has shown: they may be many, each of which asks.
// The caller has the lock.
func (c *crowd) aheadOf(own int) int {
	after, _ := find(c.waiting, c.shown+1)
	for n := max(0, own-after); n < own; n++ {
		if shown := c.waiting[own-n-1].ahead; shown >= 0 {
			return n + 1 + int(shown)
		}
	}
	return own
}

// contenders returns how many the queue has, as far as the client knows, if the crowd
// is full.
func (c *crowd) contenders() (n int, full bool) {
	c.mu.Lock()
	if len(c.waiting) < c.front {
		c.mu.Unlock()
		return 0, false
	}
	n = c.aheadOf(len(c.waiting))
	first := c.waiting[0].view
	c.mu.Unlock()
	first.mu.Lock()
	defer first.mu.Unlock()
	return max(n, first.size), true
}

// find searches by the token: the numbers in the names of the nodes start anew when the
// parent is made again, and positions whose nodes were deleted with it may not know
// that yet.
func find(in []*Position, token int64) (at int, found bool) {
	return slices.BinarySearchFunc(in, token, func(q *Position, token int64) int { return cmp.Compare(q.token, token) })
}

func insert(in []*Position, p *Position) []*Position {
	at, found := find(in, p.token)
	if found {
		return in
	}
	return slices.Insert(in, at, p)
}

// remove moves the shorter part: of a crowd those leave who came first, as a rule.
func remove(in []*Position, p *Position) []*Position {
	at, found := find(in, p.token)
	switch {
	case !found || in[at] != p:
		return in
	case at < len(in)/2:
		copy(in[1:at+1], in[:at])
		in[0] = nil
		return in[1:]
	}
	return slices.Delete(in, at, at+1)
}
