package waitfor

// A Queue has the contenders of one lock.
type Queue struct {
	// Size is how much there is: 1, or the number of permits.
	Size int64
	// Contenders are in the order of the queue.
	Contenders []*Contender

	holders []*Contender // that are stuck
	due     bool         // for another look
}

// A Contender is a node of a graph: it holds, or it waits for those ahead of it.
type Contender struct {
	// ID is for the caller, and orders what is found.
	ID int
	// Waits is false if it holds.
	Waits bool
	// Shared ones do not wait for each other.
	Shared bool
	// Takes is how much it takes from those behind it, also while it waits.
	Takes int64
	// Needs is how much a waiter needs. One that needs more than there is gives up.
	Needs int64
	// Owns are holders that are not released before its wait has ended.
	Owns []*Contender

	queue   *Queue
	at      int // in the queue
	stuck   bool
	owners  []*Contender // of a holder
	waiting int          // how many of these are stuck
	behind  *Contender   // the nearest waiter ahead that is stuck and not Shared

	mark
}

// Stuck reports whether it cannot go, after a reduction.
func (c *Contender) Stuck() bool { return c.stuck }

// Reduce finds out who is stuck.
func Reduce(queues []*Queue) {
	r := reduction{}
	for _, q := range queues {
		for at, c := range q.Contenders {
			c.queue, c.at, c.stuck, c.owners, c.waiting, c.behind = q, at, true, nil, 0, nil
		}
	}
	for _, q := range queues {
		for _, c := range q.Contenders {
			if !c.Waits {
				continue
			}
			for _, held := range c.Owns {
				held.owners = append(held.owners, c)
				held.waiting++
			}
		}
		r.look(q)
	}
	for len(r.due) > 0 {
		q := r.due[0]
		r.due, q.due = r.due[1:], false
		r.settle(q)
	}
	for _, q := range queues {
		q.index()
	}
}

// A reduction is under way.
type reduction struct{ due []*Queue }

// look has a queue looked at once more.
func (r *reduction) look(q *Queue) {
	if !q.due {
		q.due = true
		r.due = append(r.due, q)
	}
}

// settle lets those of one queue go that can.
func (r *reduction) settle(q *Queue) {
	var taken, exclusively int64 // by those ahead that are stuck
	for _, c := range q.Contenders {
		ahead := taken
		if c.Shared {
			ahead = exclusively
		}
		if c.stuck && c.canGo(ahead) {
			r.release(c)
		}
		if c.stuck {
			taken += c.Takes
			if !c.Shared {
				exclusively += c.Takes
			}
		}
	}
}

// canGo reports whether it can, if that much is taken ahead of it.
func (c *Contender) canGo(taken int64) bool {
	if !c.Waits {
		return c.waiting == 0
	}
	return c.Needs > c.queue.Size || taken+c.Needs <= c.queue.Size
}

// release lets one go. What it owns may be able to go now.
func (r *reduction) release(c *Contender) {
	c.stuck = false
	if !c.Waits {
		return
	}
	for _, held := range c.Owns {
		if held.waiting--; held.waiting == 0 {
			r.look(held.queue)
		}
	}
}

// index finds for those that are stuck who is in their way.
func (q *Queue) index() {
	q.holders = nil
	var nearest *Contender
	for _, c := range q.Contenders {
		switch {
		case !c.stuck:
		case !c.Waits:
			q.holders = append(q.holders, c)
		default:
			c.behind = nearest
			if !c.Shared {
				nearest = c
			}
		}
	}
}
