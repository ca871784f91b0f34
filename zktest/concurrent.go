package zktest

import (
	"bufio"
	"cmp"
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// Sent is a request as a client sent it, for simulation. See [WithConcurrency].
type Sent struct {
	Op    Op     // the kind of request
	Path  string // as in Call
	Watch bool   // the request sets a watch
}

// WithConcurrency is for simulation; see the package comment. It makes runs repeat
// although clients send from several goroutines, and so in an order that does not
// repeat. It needs [WithStepper] and a [Network]. Of the requests that have arrived
// over one connection when the whole bubble is blocked, the seed picks the order, as if
// the client's goroutines had been faster or slower. But a later request stays behind
// an earlier one if follows reports that its sender knew of the earlier one.
//
// Replies come in the order of the requests as picked. Clients must accept that, and
// must send each request with one write.
func WithConcurrency(follows func(earlier, later Sent) bool) Option {
	return option(func(c *config) { c.follows = follows })
}

// shuffles reports whether the server picks the order of requests that arrived
// together.
func (c *conn) shuffles() bool {
	_, inMemory := c.nc.(*memConn)
	return inMemory && c.server.stepper != nil && c.server.cfg.follows != nil
}

// arrival is a request that has arrived and is not handled yet.
type arrival struct {
	Sent
	frame []byte
}

// handleShuffled handles a request and all that have arrived with it. It reports
// whether the connection goes on.
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
		if !open { // it is chance whether a client that closes the connection has sent a ping before
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

// arrived adds a frame to the requests that have arrived.
func arrived(batch []arrival, frame []byte) ([]arrival, error) {
	r, err := parseRequest(frame)
	return append(batch, arrival{Sent{r.op, r.path, r.set}, frame}), err
}

// pick takes a request from the list that follows no earlier one in it.
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
	// The order of arrival does not repeat.
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
