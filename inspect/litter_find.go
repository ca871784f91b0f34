package inspect

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// firstOfAQueue is how many contenders of a queue are looked at.
const firstOfAQueue = 16

// findNotEphemeral finds contenders that belong to no session.
func (s *search) findNotEphemeral(ctx context.Context) error {
	var paths []string
	for i := range s.places {
		p := &s.places[i]
		for _, name := range p.held[:min(firstOfAQueue, len(p.held))] {
			paths = append(paths, p.path+"/"+znode.PermitsDir+"/"+name.Node)
		}
		for i := range p.names[:min(firstOfAQueue, len(p.names))] {
			paths = append(paths, p.waitingPath(i))
		}
	}
	var mu sync.Mutex
	return s.each(paths, func(path string) error {
		exists, stat, err := s.client.Exists(ctx, path)
		if !exists || err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		s.times.add(stat)
		if stat.EphemeralOwner == 0 {
			s.found = append(s.found, Litter{Kind: LitterNotEphemeral, Path: path, Certain: true, Since: stat.Ctime})
		}
		return nil
	})
}

// each calls do for some paths, without those that may not be read.
func (s *search) each(paths []string, do func(path string) error) error {
	return atATime(len(paths), func(i int) error {
		if err := do(paths[i]); err != nil && !s.denied.skips(paths[i], err) {
			return err
		}
		return nil
	})
}

// findEnded finds records of holders that have ended, where nobody waits for the
// lock-delay.
func (s *search) findEnded(ctx context.Context) error {
	var mu sync.Mutex
	return s.each(s.idle, func(path string) error {
		d, err := lockDelayAt(ctx, s.client, path, nil)
		if err != nil || d == nil || len(d.Ended) == 0 {
			return err
		}
		first := slices.MinFunc(d.Ended, func(a, b Ended) int { return a.Granted.Compare(b.Granted) })
		mu.Lock()
		defer mu.Unlock()
		s.found = append(s.found, Litter{Kind: LitterEnded, Path: path, Certain: true, Since: first.Granted, Used: int64(len(d.Ended))})
		return nil
	})
}

// findFullJobs finds jobs with very many records. Another program may have a node of
// that name.
func (s *search) findFullJobs(ctx context.Context) error {
	var mu sync.Mutex
	return s.each(s.jobs, func(path string) error {
		data, stat, err := s.client.Get(ctx, path)
		if errors.Is(err, framework.ErrNoNode) {
			return nil
		}
		if _, ok := znode.ParseSwept(data); err != nil || !ok {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		job, _ := split(path)
		s.found = append(s.found, Litter{Kind: LitterRecords, Path: job, Certain: true, Used: int64(stat.NumChildren), Max: recordsMax})
		return nil
	})
}

// findEmpty finds nodes that never had children, and those that had, and store nothing
// but what a recipe stores for others to read that use it at the same time.
func (s *search) findEmpty(ctx context.Context) error {
	inUse := map[string]bool{}
	for _, p := range s.places {
		inUse[p.path] = true
		if dir, recipe := partOf(p.path); recipe != "" {
			inUse[dir] = true
		}
	}
	isUsed := func(l listed) bool {
		dir, name := split(l.path)
		return inUse[dir] && isPart(name)
	}
	for _, l := range slices.DeleteFunc(s.unused, isUsed) {
		since := l.stat.Ctime
		s.found = append(s.found, Litter{Kind: LitterNeverUsed, Path: l.path, Certain: time.Since(since) >= neverUsedFor, Since: since})
	}
	var paths []string
	changed := map[string]int64{}
	for _, l := range slices.DeleteFunc(s.empty, isUsed) {
		paths, changed[l.path] = append(paths, l.path), l.stat.Pzxid
	}
	s.times.sort()
	var mu sync.Mutex
	return s.each(paths, func(path string) error {
		data, stat, err := s.client.Get(ctx, path)
		switch {
		case errors.Is(err, framework.ErrNoNode):
			return nil
		case err != nil:
			return err
		case stat.NumChildren > 0 || stat.Pzxid != changed[path] || !isOfARecipe(data):
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		since := s.times.after(stat.Pzxid)
		certain := !since.IsZero() && time.Since(since) >= emptyFor
		s.found = append(s.found, Litter{Kind: LitterEmpty, Path: path, Certain: certain, Since: since})
		return nil
	})
}

// isPart reports whether a node is a part of the recipe at the path of its parent, if
// that is in use.
func isPart(name string) bool {
	switch name {
	case znode.QueueDir, znode.PermitsDir, znode.LockDelayDir, znode.RecordsDir:
		return true
	}
	_, stripe := znode.ParseStripeDir(name)
	_, _, run := znode.ParseRun(name)
	return stripe || run
}

// isOfARecipe reports whether data are of no use when nobody uses a path: the size of a
// semaphore, a number of stripes, a lock-delay, or nothing.
func isOfARecipe(data []byte) bool {
	_, stripes := znode.ParseStripes(data)
	_, delay := znode.ParseLockDelay(data)
	size := len(data) == 4 && int32(binary.BigEndian.Uint32(data)) >= 0 && data[0] == 0
	return size || stripes || delay || znode.IsUnset(data)
}

// times are when some transactions were made.
type times []moment

type moment struct {
	zxid int64
	at   time.Time
}

// add adds those that a node tells of.
func (all *times) add(stat framework.Stat) {
	*all = append(*all, moment{stat.Czxid, stat.Ctime})
	if stat.Mzxid != stat.Czxid {
		*all = append(*all, moment{stat.Mzxid, stat.Mtime})
	}
}

// sort prepares for after: each has the earliest time of those that follow.
func (all times) sort() {
	slices.SortFunc(all, func(a, b moment) int { return cmp.Compare(a.zxid, b.zxid) })
	for i := len(all) - 2; i >= 0; i-- {
		if next := all[i+1].at; next.Before(all[i].at) {
			all[i].at = next
		}
	}
}

// after returns a time by which a transaction was made, zero if none is known.
func (all times) after(zxid int64) time.Time {
	i, _ := slices.BinarySearchFunc(all, zxid, func(m moment, zxid int64) int { return cmp.Compare(m.zxid, zxid) })
	if i == len(all) {
		return time.Time{}
	}
	return all[i].at
}
