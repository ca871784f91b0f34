package semaphore

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// What makes the door safe. Let D be a node in line, and let L be the listing of the
// permits by which its owner finds that n more fit. The permits are then made by one
// transaction T, which also removes D and checks that the size has not changed.
//
//   - D stands from its creation to T, or T fails: it is never made twice.
//   - The listing L shows the permits as they were when D was first in line, or later.
//     Where a listing of the line said so, the session never again attaches to a server
//     that knows less. Where the end of the node ahead said so, and the connection
//     breaks before L is answered, the next server may know less: then a sync and
//     another look come first (Position.Unconfirmed).
//   - Once first, D stays first while it stands: nodes in line have growing numbers.
//   - So between L and T nobody else can have made permits: he would need a node in
//     line that stands at his transaction and was first before it. Of two that stand at
//     the same time the one with the greater number was never first.
//   - So at T there are no more permits than L shows; those there are and the n fit
//     into the size, which is the one that is stored at T.
//
// A Java head of the line makes its permit before it knows that there is room, keeps
// its node in line, and counts all children: while there are too many it waits. With
// its node in line it is as good as one of us. It is not always: if somebody deletes
// that node, or Curator carries the create over into a new session, it makes a permit
// out of turn. It then counts it, and everything we have made, so it goes too far only
// if its create and its count fall between our L and T, which is one round trip. We
// could only see that by another listing after each T.
//
// Of the children behind the door, those count whose names end as a permit's do,
// whoever made them. Others are ignored, so that a stray node does not cost a permit
// for ever. Curator counts those as well, so it is never less careful than we are.

// throughDoor takes n permits: it waits for the first place in line, and there until
// there is room.
func (s *Semaphore) throughDoor(n int) acquire.Taker {
	vetted := n > 1 || !s.agreed.Load() // else only the first in line has to know the size
	return func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		d := &door{s: s, n: n, try: t}
		t.Ask = d.ask
		if err := d.look(ctx, vetted); err != nil {
			return nil, err
		}
		var size *queue.Dependency
		if vetted {
			size = &queue.Dependency{Watch: d.watch}
		}
		place, err := t.Await(ctx, s.line, size)
		if err != nil {
			return nil, err
		}
		d.place = place
		made, err := d.pass(ctx)
		if err != nil {
			t.GiveUp(place)
			return nil, err
		}
		grant := hold.Grant{Path: made[0].Path, Token: lease.Token(made[0].Czxid), RevocationRequested: d.asked || place.RevocationRequested()}
		for _, also := range made[1:] {
			grant.Also = append(grant.Also, also.Path)
		}
		if err := t.Rely(&grant); err != nil {
			return nil, err
		}
		return hold.Start(t.Work, grant), nil
	}
}

// A door lets somebody in when there is room for its n permits.
type door struct {
	s     *Semaphore
	n     int
	try   *acquire.Try
	place *queue.Position // in line; nil until it is the first

	hearsay <-chan struct{}  // that of the place, until it was looked into
	full    bool             // there was no room
	own     *framework.Watch // on the place
	asked   bool             // to give way, when that was set
}

// look finds out, with as little as possible, that there is no room for a newcomer, or
// that others are in line, for a try that waits for nobody.
func (d *door) look(ctx context.Context, vetted bool) error {
	if !d.try.AtOnce {
		return nil
	}
	r, err := d.s.vet(ctx, d.try.Client, d.n, false)
	if err != nil {
		return err
	}
	inside, err := d.s.inside.Names(ctx, d.try.Client)
	if err != nil {
		return err
	}
	if len(inside)+d.n > r.size {
		d.try.Seen.Record(d.s.leases(), inside)
		return queue.ErrNotFree
	}
	line := *d.s.line
	if vetted {
		line.Rule = func(ctx context.Context, c *framework.Client) (queue.Policy, error) {
			_, err := d.s.vet(ctx, c, d.n, false)
			return queue.Exclusive, err
		}
	}
	return d.try.CheckFree(ctx, &line)
}

// watch is for who waits in line: who asks for more than there can ever be is told at
// once. What the size is only matters to the first.
func (d *door) watch(ctx context.Context) (w *framework.Watch, changed bool, err error) {
	r, err := d.s.vet(ctx, d.try.Client, d.n, true)
	return r.watch, false, err
}

// ask finds out who is in the way: those inside, and then those in line.
func (d *door) ask(ctx context.Context) {
	inside, err := d.s.inside.Names(ctx, d.try.Client)
	if err != nil {
		return
	}
	inLine := max(d.try.Seen.Ahead, 0)
	if d.place != nil {
		inLine = 0
	}
	d.try.Seen.Record(d.s.leases(), inside)
	d.try.Seen.Ahead += inLine
}
