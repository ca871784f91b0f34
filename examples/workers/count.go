package main

import (
	"slices"
)

// taken is how many jobs processes have taken that are not done. For await.
func (s *service) taken() int { return len(s.took) }

// full reports whether as many jobs run as may, or as there are left. For await.
func (s *service) full() bool {
	return len(s.running) == min(s.size, len(s.queue)+len(s.took))
}

// begun is how many jobs were begun, some of them again.
func (s *service) begun() int {
	s.Lock()
	defer s.Unlock()
	return s.starts
}

// end ends the job that has run for longest, which is done then. It returns false if
// none runs.
func (s *service) end() (ok bool) {
	s.Change(func() {
		if ok = len(s.running) > 0; ok {
			oldest := s.running[0]
			delete(s.took, oldest.number)
			s.done[oldest.number] = true
			s.remove(func(j *job) bool { return j == oldest })
		}
	})
	return ok
}

// remove ends jobs that run, done or not.
func (s *service) remove(which func(*job) bool) (removed int) {
	s.running = slices.DeleteFunc(s.running, func(j *job) bool {
		if !which(j) {
			return false
		}
		close(j.ended)
		removed++
		return true
	})
	return removed
}

// busiest returns the process that runs most jobs.
func (s *service) busiest() (pid int) {
	runs, most := map[int]int{}, 0
	for _, j := range s.running {
		if runs[j.pid]++; runs[j.pid] > most {
			pid, most = j.pid, runs[j.pid]
		}
	}
	return pid
}

// lose has all that a process was doing end undone, and returns how many jobs ran.
func (s *service) lose(pid int) int {
	s.gone[pid] = true
	for n, other := range s.took {
		if other == pid {
			delete(s.took, n)
			s.queue = append(s.queue, n)
		}
	}
	return s.remove(func(j *job) bool { return j.pid == pid })
}
