package framework

import (
	"errors"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// Behind the creates of a group each of their paths is listed. These listings travel
// together, as one request that reads several nodes: it costs a server little more than
// one listing. Nothing else is different for them. Each says what it would have said
// alone, later by what comes with it: the request is behind the group on the same
// connection, and the server carries it out behind the group.
//
// If the answer does not show them, they are sent again, alone: it was too large, or
// the request was refused. Servers before 3.6 do not know it. They say so, and close
// the connection; then the session uses it no more, nor after some connections in a row
// that broke before such a request was answered: perhaps nobody said so.

const (
	// maxListings is how many listings such a request has at most. The answers to what
	// comes behind it on the connection wait for all of them.
	maxListings = 16
	// maxHangUps is how many connections in a row that is.
	maxHangUps = 3
)

// gather has listings wait until sendListings.
func (g *groups) gather() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.following++
}

// gathers has a listing wait, if a group is just being followed. Any one may: it is as
// if its caller had come a moment later.
func (g *groups) gathers(m member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.following == 0 || g.hangUps.Load() >= maxHangUps {
		return false
	}
	g.listings = append(g.listings, m)
	return true
}

// sendListings sends those that wait.
func (g *groups) sendListings() {
	g.mu.Lock()
	g.following--
	left := g.listings
	g.listings = nil
	g.mu.Unlock()
	for len(left) > 0 {
		f := &flight{of: g}
		left = f.take(left, maxListings)
		if f.lists = len(f.members) > 1; !f.lists {
			f.repeat()
		} else if !f.send() {
			f.giveBack()
		}
	}
}

// listed gives each member its answer, or sends each again, alone.
func (f *flight) listed(a guard.Answer) {
	f.of.learn(a)
	if each := f.listings(a); each != nil {
		f.answer(each)
	} else {
		f.repeat()
	}
}

// learn counts the connections that broke before an answer.
func (g *groups) learn(a guard.Answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case errors.Is(refusals[a.Code], ErrUnsupported):
		g.hangUps.Store(maxHangUps)
	case !errors.Is(a.Err, guard.ErrConnectionClosed):
		g.hangUps.Store(0)
	case !g.hungUp:
		g.hungUp = true
		g.hangUps.Add(1)
	}
}

// listings returns what an answer says of each member; nil if it does not.
func (f *flight) listings(a guard.Answer) []guard.Answer {
	if a.Err != nil || a.Code != 0 {
		return nil
	}
	each := make([]guard.Answer, len(f.members))
	d := jute.NewDecoder(a.Body)
	for i := range each {
		h := d.MultiHeader()
		each[i] = guard.Answer{Zxid: a.Zxid, Body: d.Rest()}
		switch {
		case h.Done:
			return nil
		case h.Type == multiFailed:
			if each[i].Code = d.Int32(); each[i].Code == 0 {
				return nil
			}
		case h.Type == guard.OpGetChildren:
			for n := d.Int32(); n > 0 && d.Err() == nil; n-- {
				d.Buffer()
			}
		default:
			return nil
		}
	}
	if h := d.MultiHeader(); !h.Done || d.Err() != nil {
		return nil
	}
	return each
}
