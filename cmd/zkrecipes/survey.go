package main

import (
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// permits are the numbers of a semaphore in JSON.
type permits struct {
	Size  int  `json:"permits"` // how many there are
	Free  int  `json:"free"`    // could be acquired at once
	Known bool `json:"known"`   // false: Curator has not stored how many there are, and the numbers are 0
}

func permitsOf(s *inspect.Survey) *permits {
	if s.Permits == nil {
		return nil
	}
	return &permits{Size: s.Permits.Size, Free: s.Permits.Free, Known: s.Permits.SizeKnown}
}

// stripes are the numbers of a path of stripes in JSON.
type stripes struct {
	Size int `json:"stripes"` // how many there are; 0 if that is not stored
	Free int `json:"free"`    // no client holds them
}

func stripesOf(s *inspect.Survey) *stripes {
	if s.Stripes == nil {
		return nil
	}
	return &stripes{Size: s.Stripes.Size, Free: s.Stripes.Free}
}

// records are the numbers of a job in JSON.
type records struct {
	Records int        `json:"records"` // how many runs are recorded as finished
	Swept   *time.Time `json:"swept"`   // up to when old ones were removed; nil if none were
}

func recordsOf(s *inspect.Survey) *records {
	if s.Job == nil {
		return nil
	}
	r := &records{Records: s.Job.Records}
	// Another program may have written any time: JSON has no years after 9999.
	if swept := s.Job.Swept.UTC(); !swept.IsZero() && swept.Year() >= 0 && swept.Year() <= 9999 {
		r.Swept = &swept
	}
	return r
}

// A queueEntry is a contender in JSON, and one line of "ls".
type queueEntry struct {
	Stripe   *int          `json:"stripe"`   // nil if the queue is not that of one
	Run      *string       `json:"run"`      // its key or tick; nil if the queue is not that of one
	Position int           `json:"position"` // in the queue of its kind, of its stripe, or of its run
	Kind     string        `json:"kind"`     // a lease.KindMutex, or another of these
	State    inspect.State `json:"state"`
	Token    lease.Token   `json:"token"`
	Session  string        `json:"session"`
	Who      string        `json:"who"`
	Host     string        `json:"host"`
	PID      int           `json:"pid"`
	Since    time.Time     `json:"since"` // it joined the queue, by the server's clock
	Age      float64       `json:"age_seconds"`
	Node     string        `json:"node"`
}

func newQueueEntry(q inspect.Queue, at int) queueEntry {
	c, position := q.Contenders[at], at+1
	if c.State != inspect.Held {
		position += q.LeftOut[inspect.Held]
	}
	e := queueEntry{
		Position: position, Kind: c.Kind, State: c.State, Token: c.Token, Session: hexSession(c.Session),
		Who: c.Holder.Who, Host: c.Holder.Host, PID: c.Holder.PID,
		Since: c.Enqueued.UTC(), Age: seconds(age(c.Enqueued)), Node: c.Node,
	}
	e.Stripe, e.Run = queueOf(q.Recipe, q.Stripe, q.Run)
	return e
}

// queueEntries numbers the contenders of all queues, each queue from 1.
func queueEntries(s *inspect.Survey) []queueEntry {
	all := []queueEntry{} // in JSON an array, also when it is empty
	for _, queue := range s.Queues {
		for i := range queue.Contenders {
			all = append(all, newQueueEntry(queue, i))
		}
	}
	return all
}
