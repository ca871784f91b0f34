package zktest

import (
	"bufio"
	"cmp"
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// Sent is a request as a client sent it.
type Sent struct {
	Op    Op     // what is asked for
	Path  string // as in Call
	Watch bool   // it sets a watch
}

// WithConcurrency is for runs of clients that send from several goroutines, and so in
// an order that does not repeat. It needs a stepper and a [Network]. Requests that have
// come over one connection by the time everything has come to rest are then let through
// in an order that the seed picks, as if the client's goroutines had been quicker or
// slower, unless follows says that the later of two was sent in the knowledge that the
// earlier had been sent.
//
// Replies come in the order in which requests were let through. Clients must not mind,
// and must send each request with one write.
func WithConcurrency(follows func(earlier, later Sent) bool) Option {
	return option(func(c *config) { c.follows = follows })
}

// shuffles tells whether what has come at once is let through in an order of the
// server's own.
func (c *conn) shuffles() bool {
	_, inMemory := c.nc.(*memConn)
	return inMemory && c.server.stepper != nil && c.server.cfg.follows != nil
}

// arrival is a request that has come and was not let through yet.
type arrival struct {
	Sent
	frame []byte
}

// handleShuffled handles a request and all that has come with it. It tells whether the
// connection goes on.
func (c *conn) handleShuffled(first []byte, in *bufio.Reader) bool {
	link := c.nc.(*memConn).in
	batch, err := arrived(nil, first)
	gather := func() (none bool) {
		n, open := link.pending()
		for err == nil && n+in.Buffered() > 0 {
			var frame []byte
			if frame, err = jute.ReadFrame(in, jute.MaxFrame); err == nil {
				batch, err = arrived(batch, frame)
			}
			n, _ = link.pending()
		}
		if !open { // whether a ping was sent before the client gave up the connection at the same moment is chance
			batch = slices.DeleteFunc(batch, func(a arrival) bool { return a.Op == OpPing })
		}
		return err == nil && len(batch) == 0
	}
	for err == nil && c.server.stepUnless(gather, c.key) {
		if err != nil {
			return false
		}
		if len(batch) == 0 {
			return true
		}
		var frame []byte
		frame, batch = c.pick(batch)
		if !c.ignoring() && !c.handle(frame) {
			return false
		}
		if len(batch) == 0 {
			return true
		}
		if !c.admit() {
			return false
		}
	}
	return false
}

// arrived adds a frame to what has come.
func arrived(batch []arrival, frame []byte) ([]arrival, error) {
	r, err := parseRequest(frame)
	return append(batch, arrival{Sent{r.op, r.path, r.set}, frame}), err
}

// pick takes one of what has come at once from the list: one that follows none before
// it.
func (c *conn) pick(all []arrival) (frame []byte, rest []arrival) {
	if len(all) == 1 {
		return all[0].frame, nil
	}
	var free []int
	for i, a := range all {
		if !slices.ContainsFunc(all[:i], func(earlier arrival) bool { return c.server.cfg.follows(earlier.Sent, a.Sent) }) {
			free = append(free, i)
		}
	}
	// The order in which they came is what does not repeat.
	slices.SortStableFunc(free, func(i, j int) int {
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Path, b.Path), cmp.Compare(btoi(a.Watch), btoi(b.Watch)))
	})
	i := free[c.server.stepper.choose(len(free))]
	frame = all[i].frame
	return frame, slices.Delete(all, i, i+1)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
