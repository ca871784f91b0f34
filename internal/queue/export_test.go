package queue

import (
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// DetachedWatch returns the watch of a position whose wait has ended, and what delivers
// an event of it. Until a hold takes it, events go to a function.
func DetachedWatch(untaken func()) (watch hold.Watch, event func(framework.Event)) {
	n := &node{view: &view{closed: true}, watch: watched}
	n.inherit(func(framework.Event) { untaken() })
	return n, n.onEvent
}

// FiresDuringItsRead returns whether a watch counts as set that fires before the answer
// to the read that has set it is handled.
func FiresDuringItsRead() bool {
	name := znode.Name{Node: "_c_00000000000000000000000000000000-lock-0000000001", Kind: znode.Mutex, Sequence: 1}
	v := &view{names: []znode.Name{name}, reading: 1}
	n := v.node(name)
	n.watch = setting
	n.onEvent(framework.Event{Type: framework.EventDataChanged})
	n.onRead(nil, framework.Stat{}, func() {}, nil)
	return n.watch == watched
}

// ListedFronts is how many times the front a listing is kept for.
const ListedFronts = listedFronts

// Kept returns how many names of a listing the main session of a client keeps.
func Kept(client *framework.Client, path string) (names int) {
	all := kit.Of(client).Kept(client.Session(), viewsKey{}, newViews).(*views)
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, v := range all.all {
		if v.key.path == client.FullPath(path) {
			v.mu.Lock()
			names += len(v.names)
			v.mu.Unlock()
		}
	}
	return names
}

// CountsAhead returns, for each place in a crowd that has just changed at random, how
// many are counted ahead of it, and how many a look at all of them counts.
func CountsAhead(random func(n int) int) (counted, want []int) {
	c := &crowd{}
	for range 1 + random(100) {
		some := func() *Position { return c.waiting[random(len(c.waiting))] }
		switch what := random(4); {
		case what < 2 || len(c.waiting) == 0:
			c.waiting = insert(c.waiting, &Position{token: int64(1 + random(100)), ahead: -1})
		case what == 2:
			c.waiting = remove(c.waiting, some())
		default:
			c.saw(some(), random(50))
		}
	}
	for own := range len(c.waiting) + 1 {
		n := own
		for i, p := range c.waiting[:own] {
			if p.ahead >= 0 {
				n = own - i + int(p.ahead)
			}
		}
		counted, want = append(counted, c.aheadOf(own)), append(want, n)
	}
	return counted, want
}

// ListAgain has a listing sent for a position.
func ListAgain(p *Position) {
	p.view.mu.Lock()
	defer p.view.unlock()
	p.view.want(p, p.view.listed)
}
