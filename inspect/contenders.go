package inspect

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// everyone is how many contenders are read if nobody has said how many.
const everyone = math.MaxInt

// kinds are those of the contenders, except for the permits of a semaphore of two
// queues.
func (p *place) kinds() []string {
	switch {
	case p.single:
		return []string{znode.Permits}
	case p.recipe == Election:
		return []string{znode.Latch}
	}
	return znode.Locks
}

// list lists the contenders, except for the permits of a semaphore of two queues.
func (p *place) list(ctx context.Context, client *framework.Client) error {
	dir := p.path
	if p.inTwoQueues() {
		dir += "/" + znode.QueueDir
	}
	children, _, err := znode.Children(ctx, client, dir)
	p.names = znode.Contenders(children, p.kinds()...)
	return err
}

// listPermits lists the permits of a semaphore of two queues.
func (p *place) listPermits(ctx context.Context, client *framework.Client) error {
	children, _, err := znode.Children(ctx, client, p.path+"/"+znode.PermitsDir)
	p.held = znode.Contenders(children, znode.Permit)
	return err
}

// holding returns how many of those in p.names hold, which are the first ones, and the
// state of the others. Names are enough for that, and the size of a single queue.
func (p *place) holding() (n int, others State) {
	switch {
	case p.single && !p.sizeKnown:
		return 0, Unknown
	case p.single:
		return fitting(p.names, p.size), Waiting
	case p.recipe == Semaphore:
		return 0, Waiting
	case p.recipe == Election:
		return min(1, len(p.names)), Waiting
	}
	return locks.Holding(p.names), Waiting
}

// An entry is a contender whose name was listed.
type entry struct {
	place *place
	name  znode.Name
	path  string
	state State
	read  bool
	found *Contender // nil after it was read: it has left
}

// entries returns those that hold, or the others.
func (p *place) entries(holders bool) (all []*entry) {
	n, others := p.holding()
	for i, name := range p.names {
		if i < n == holders {
			all = append(all, &entry{place: p, name: name, path: p.waitingPath(i), state: others})
		}
	}
	if holders {
		for _, name := range p.held {
			all = append(all, &entry{place: p, name: name, path: p.path + "/" + znode.PermitsDir + "/" + name.Node})
		}
		for _, e := range all {
			e.state = Held
		}
	}
	return all
}

// readContenders reads the first n contenders that hold, and the first n that do not,
// of some places that were listed, and adds them to the queues of these.
//
// A client that waits for permits makes them, and then deletes the node by which it has
// waited. So permits are listed when those that wait have been read: who is not found
// there any more is found here.
func readContenders(ctx context.Context, client *framework.Client, places []*place, n int) error {
	var holders, others []*entry
	for _, p := range places {
		others = append(others, p.entries(false)...)
	}
	if err := readFirst(ctx, client, others, n); err != nil {
		return err
	}
	for _, p := range places {
		if p.inTwoQueues() {
			if err := p.listPermits(ctx, client); err != nil {
				return err
			}
		}
		holders = append(holders, p.entries(true)...)
	}
	if err := readFirst(ctx, client, holders, n); err != nil {
		return err
	}
	for _, e := range slices.Concat(holders, others) {
		e.addTo(&e.place.queue)
	}
	return nil
}

// readFirst reads contenders until n were found: those that have left do not count. If
// one cannot be read, no further ones are.
func readFirst(ctx context.Context, client *framework.Client, all []*entry, n int) error {
	for found := 0; found < n && len(all) > 0; {
		next := all[:min(len(all), sideBySide, n-found)]
		if err := atATime(len(next), func(i int) error { return next[i].get(ctx, client) }); err != nil {
			return err
		}
		for _, e := range next {
			if e.found != nil {
				found++
			}
		}
		all = all[len(next):]
	}
	return nil
}

// get reads what a contender says.
func (e *entry) get(ctx context.Context, client *framework.Client) error {
	data, stat, err := client.Get(ctx, e.path)
	e.read = true
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	c := Contender{queue.Describe(e.path, e.name, data, stat), e.state}
	c.Kind, c.Holding = e.place.kindOf(e.name), e.state == Held
	if e.place.inTwoQueues() && !c.Holding {
		c.Token = 0 // that of its permit is another one
	}
	e.found = &c
	return err
}

// addTo adds a contender to its queue: if it was not read, as one of those that were
// left out.
func (e *entry) addTo(q *Queue) {
	switch {
	case e.found != nil:
		q.Contenders = append(q.Contenders, *e.found)
	case !e.read && q.LeftOut == nil:
		q.LeftOut = map[State]int{e.state: 1}
	case !e.read:
		q.LeftOut[e.state]++
	}
}
