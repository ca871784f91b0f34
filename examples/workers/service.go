package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
)

// A service has a queue of jobs, does those that it is asked to, and counts how many it
// does at once. A job is done at least once: those that a process had taken when it was
// killed return to the queue.
type service struct {
	example.State              // guards what follows
	size          int          // how many may run at once
	queue         []int        // the jobs that no process has taken
	took          map[int]int  // to the process that has taken a job
	done          map[int]bool // the jobs that are
	running       []*job       // the oldest first
	starts        int          // of jobs
	asked         int          // how often a worker asked for a job
	gone          map[int]bool // processes that were killed
}

// A job is one that runs.
type job struct {
	number, pid int
	ended       chan struct{} // closed when it was told to end, or its process was killed
}

func newService(jobs, size int) *service {
	s := &service{size: size, took: map[int]int{}, done: map[int]bool{}, gone: map[int]bool{}}
	for n := range jobs {
		s.queue = append(s.queue, n)
	}
	return s
}

// ServeHTTP takes the requests of processes.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.serve(w, r); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
	}
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) error {
	pid, err := strconv.Atoi(r.FormValue("pid"))
	if err != nil {
		return err
	}
	if r.URL.Path == "/take" {
		return s.take(w, pid)
	}
	n, err := strconv.Atoi(r.FormValue("job"))
	if err != nil {
		return err
	}
	return s.do(r.Context(), &job{number: n, pid: pid, ended: make(chan struct{})})
}

// take gives a process the next job, if there is one.
func (s *service) take(w http.ResponseWriter, pid int) (err error) {
	s.Change(func() {
		if s.gone[pid] {
			return
		}
		s.asked++
		if len(s.queue) == 0 {
			return
		}
		s.took[s.queue[0]] = pid
		_, err = fmt.Fprintln(w, s.queue[0])
		s.queue = s.queue[1:]
	})
	return err
}

// do does a job until it is told to end, or the request ends: with its lease, or its
// process.
func (s *service) do(ctx context.Context, j *job) error {
	known, done := false, false
	s.Change(func() {
		if done = s.done[j.number]; done {
			return // its process has not got the answer
		}
		if pid, ok := s.took[j.number]; !ok || pid != j.pid {
			return
		}
		known = true
		s.starts++
		s.running = append(s.running, j)
		if len(s.running) > s.size && s.Failure == nil {
			s.Failure = fmt.Errorf("%d jobs run at once, and %d may", len(s.running), s.size)
		}
	})
	if done {
		return nil
	}
	if !known {
		return fmt.Errorf("process %d has not taken job %d", j.pid, j.number)
	}
	select {
	case <-j.ended:
		return nil
	case <-ctx.Done():
		s.Change(func() { s.remove(func(other *job) bool { return other == j }) })
		return context.Cause(ctx)
	}
}
