package inspect

import (
	"context"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
)

// looks reads the queues of places.
type looks struct {
	client *framework.Client
	denied *denied
}

// A look is some places with their queues.
type look []place

// look reads the queues of some places, without those that may not be read.
func (l *looks) look(ctx context.Context, places []place) (look, error) {
	seen := look(slices.Clone(places))
	err := l.each(seen, func(p *place) error { return p.read(ctx, l.client) })
	seen.knowGranted(l.client)
	return slices.DeleteFunc(seen, func(p place) bool { return len(p.queue.Contenders) == 0 }), err
}

// lookAgain looks at places a second time, and returns what was the same.
func (l *looks) lookAgain(ctx context.Context, first look) (look, error) {
	if err := l.sizes(ctx, first); err != nil {
		return nil, err
	}
	second, err := l.look(ctx, first)
	if err != nil {
		return nil, err
	}
	err = l.sizes(ctx, second)
	return inBoth(first, second), err
}

// sizes finds out when the sizes of semaphores were stored.
func (l *looks) sizes(ctx context.Context, places []place) error {
	return l.each(places, func(p *place) error {
		if p.recipe != Semaphore {
			return nil
		}
		_, stat, err := l.client.Exists(ctx, p.path)
		p.sizeAt = stat.Mzxid
		return err
	})
}

// each calls do for each place. Those that may not be read are emptied.
func (l *looks) each(places []place, do func(p *place) error) error {
	return atATime(len(places), func(i int) error {
		p := &places[i]
		err := do(p)
		if l.denied.skips(p.path, err) {
			p.queue.Contenders = nil
			return nil
		}
		return err
	})
}

// read reads the queue, as seen by a server that has caught up with the leader.
func (p *place) read(ctx context.Context, client *framework.Client) error {
	p.queue = Queue{Recipe: p.recipe}
	if err := client.Sync(ctx, p.path); err != nil {
		return err
	}
	if err := p.list(ctx, client); err != nil {
		return err
	}
	if p.recipe == Semaphore { // after the listing: then it is not older
		if err := p.readSize(ctx, client); err != nil {
			return err
		}
	}
	return readContenders(ctx, client, []*place{p}, everyone)
}

// knowGranted has those count as holders that another contender says it holds. A slot
// that was released within a session, and handed over, is listed until its node is
// deleted; and a semaphore with a single queue that has become smaller lists some that
// hold as waiting.
func (l look) knowGranted(client *framework.Client) {
	granted := map[string]bool{}
	for _, p := range l {
		for _, c := range p.queue.Contenders {
			for _, path := range c.Holds {
				granted[path] = true
			}
		}
	}
	for _, p := range l {
		for i := range p.queue.Contenders {
			if c := &p.queue.Contenders[i]; granted[client.FullPath(c.Path)] {
				c.Holding, c.State = true, Held
			}
		}
	}
}

// inBoth returns what was the same in two looks: the contenders that have waited in
// both, or held in both.
func inBoth(first, second look) (same look) {
	all := make(map[placeKey]*place, len(first))
	for i := range first {
		all[first[i].key()] = &first[i]
	}
	for _, p := range second {
		before := all[p.key()]
		if p.sizeAt != before.sizeAt {
			p.size = 0 // there may have been more in between
		}
		was := map[identity]bool{}
		for _, c := range before.queue.Contenders {
			was[identityOf(c)] = true
		}
		p.queue.Contenders = slices.DeleteFunc(p.queue.Contenders, func(c Contender) bool { return !was[identityOf(c)] })
		same = append(same, p)
	}
	return same
}

// A placeKey is that of a place.
type placeKey struct {
	path   string
	recipe Recipe
	single bool
}

func (p *place) key() placeKey { return placeKey{p.path, p.recipe, p.single} }

// An identity is that of a node, with what it does. A name alone may be used again,
// without the id that ours have.
type identity struct {
	path     string
	session  int64
	enqueued int64
	state    State
}

func identityOf(c Contender) identity {
	return identity{c.Path, c.Session, c.Enqueued.UnixMilli(), c.State}
}
