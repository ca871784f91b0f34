package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// A survey is all that contends below a path. Usually it is one queue. Java's locks,
// elections and semaphores on one path do not heed each other, so each has its own.
type survey struct {
	exists    bool
	queues    [][]lease.Contender // each first in line first; none is empty
	semaphore *permits            // nil if the path has none
	others    []string            // children that contend for nothing
}

// permits is what is known of a semaphore besides its queue, and its JSON.
type permits struct {
	Size  int  `json:"permits"` // how many there are
	Free  int  `json:"free"`    // could be had at once
	Known bool `json:"known"`   // else the numbers are 0: Curator need not store how many there are
}

// lookAround takes a survey.
func takeSurvey(ctx context.Context, client *framework.Client, path string) (*survey, error) {
	locks, err := mutex.New(client, path) // which lists readers and writers as well
	if err != nil {
		return nil, usageErrorf("%v", err)
	}
	election, err := leader.New(client, path)
	if err != nil {
		return nil, usageErrorf("%v", err)
	}
	s := &survey{others: []string{}} // in JSON an array, also when it is empty
	// Each of these waits until the server has caught up.
	if err := s.add(locks.Contenders(ctx)); err != nil {
		return nil, err
	}
	if err := s.add(election.Contenders(ctx)); err != nil {
		return nil, err
	}
	children, _, err := client.Children(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	s.exists = true
	if err := s.addSemaphores(ctx, client, path, children); err != nil {
		return nil, err
	}
	for _, child := range children {
		if !s.knows(child) {
			s.others = append(s.others, child)
		}
	}
	slices.Sort(s.others)
	return s, nil
}

func (s *survey) add(line []lease.Contender, err error) error {
	if len(line) > 0 {
		s.queues = append(s.queues, line)
	}
	return err
}

// addSemaphores adds the semaphore of either layout, if the children look like one.
func (s *survey) addSemaphores(ctx context.Context, client *framework.Client, path string, children []string) error {
	if slices.Contains(children, znode.QueueDir) || slices.Contains(children, znode.PermitsDir) {
		if err := s.addSemaphore(ctx, client, path); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(children, inSingleQueue) {
		return s.addSemaphore(ctx, client, path, semaphore.WithSingleQueue())
	}
	return nil
}

func inSingleQueue(child string) bool {
	_, ok := znode.Parse(child, znode.Permits)
	return ok
}

func (s *survey) addSemaphore(ctx context.Context, client *framework.Client, path string, layout ...semaphore.Option) error {
	adopted, err := semaphore.New(client, path, 0, layout...) // of the size that is stored
	if err != nil {
		return err
	}
	known := permits{Known: true}
	if known.Size, err = adopted.Size(ctx); err == nil {
		known.Free, err = adopted.Available(ctx)
	}
	if errors.Is(err, semaphore.ErrNoSize) {
		known = permits{}
		// There has to be one to list a single queue; see places.
		adopted, err = semaphore.New(client, path, math.MaxInt32, layout...)
	}
	if err != nil {
		return err
	}
	s.semaphore = &known
	line, err := adopted.Contenders(ctx)
	if errors.Is(err, semaphore.ErrSizeMismatch) || errors.Is(err, semaphore.ErrNoSize) { // it has changed just now
		return s.addSemaphore(ctx, client, path, layout...)
	}
	return s.add(line, err)
}

// knows reports whether a child of the path is part of what was found.
func (s *survey) knows(child string) bool {
	if s.semaphore != nil && (child == znode.QueueDir || child == znode.PermitsDir) {
		return true
	}
	for _, line := range s.queues {
		if slices.ContainsFunc(line, func(c lease.Contender) bool { return c.Node == child }) {
			return true
		}
	}
	return false
}

// A place is a contender in JSON, and one line of "ls".
type queueEntry struct {
	Position int         `json:"position"` // in the queue of its kind
	Kind     string      `json:"kind"`     // a lease.KindMutex, or another of these
	State    string      `json:"state"`    // held, waiting or unknown
	Token    lease.Token `json:"token"`
	Session  string      `json:"session"`
	Who      string      `json:"who"`
	Host     string      `json:"host"`
	PID      int         `json:"pid"`
	Since    time.Time   `json:"since"` // it joined the queue, by the server's clock
	Age      float64     `json:"age_seconds"`
	Node     string      `json:"node"`
}

func newQueueEntry(c lease.Contender, position int) queueEntry {
	state := "waiting"
	if c.Holding {
		state = "held"
	}
	return queueEntry{
		Position: position, Kind: c.Kind, State: state, Token: c.Token, Session: hexSession(c.Session),
		Who: c.Holder.Who, Host: c.Holder.Host, PID: c.Holder.PID,
		Since: c.Enqueued.UTC(), Age: seconds(max(time.Since(c.Enqueued), 0)), Node: c.Node,
	}
}

// places numbers the contenders of all queues, each queue from 1.
func (s *survey) entries() []queueEntry {
	all := []queueEntry{}
	for _, line := range s.queues {
		for i, c := range line {
			p := newQueueEntry(c, i+1)
			if inSingleQueue(c.Node) && s.semaphore != nil && !s.semaphore.Known {
				p.State = "unknown" // it depends on the size
			}
			all = append(all, p)
		}
	}
	return all
}
