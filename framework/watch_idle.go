package framework

import (
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// Watches that nobody waits for any more are kept for a while, because whoever gives up
// a wait often begins it again, and are then taken back, so that a session that lives
// for long does not gather them: those that have been idle for as long as the session
// timeout, and of more than idleLimit those that have been idle for longest. Each costs
// a request.
//
// The library knows nothing of that, so the guard asks the server; see
// guard.RemoveWatch.
//
// No watch that is needed can get lost. It is decided which one to take back while
// nothing else can be written to the connection. If somebody waits for it then it
// stays, and whoever comes later asks for the watch anew, behind the request that takes
// it back; the server carries them out in that order, and so does the library hear of
// them. If the connection breaks before the answer the library sets the watch again on
// the next one, whatever became of it, and it is idle as before.

// idleLimit is how many idle watches are kept in a session.
const idleLimit = 64

// markIdle notes that nobody waits for a watch that the server has. The caller has the
// lock.
func (t *watchTable) markIdle(spot *watchSpot) {
	spot.since = time.Now()
	spot.idle = t.idle.PushBack(spot)
}

// unmarkIdle notes that it is not idle, or not there, any more. The caller has the
// lock.
func (t *watchTable) unmarkIdle(spot *watchSpot) {
	if spot.idle != nil {
		t.idle.Remove(spot.idle)
		spot.idle = nil
	}
}

// idleFor returns how long it takes until a watch is to be taken back.
func (t *watchTable) idleFor(now time.Time, patience time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch oldest := t.idle.Front(); {
	case oldest == nil:
		return time.Hour
	case t.idle.Len() > t.limit:
		return 0
	default:
		return oldest.Value.(*watchSpot).since.Add(patience).Sub(now)
	}
}

// takeIdle forgets the watch that has been idle for longest of those that are to be
// taken back, and returns its key. It is false if there is none.
func (t *watchTable) takeIdle(now time.Time, patience time.Duration) (watchKey, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.idle.Front(); e != nil; e = e.Next() {
		spot := e.Value.(*watchSpot)
		if t.idle.Len() <= t.limit && now.Sub(spot.since) < patience {
			break
		}
		if all, ok := t.sameAs(spot); ok {
			for _, spot := range all {
				t.remove(spot)
			}
			return spot.key, true
		}
	}
	return watchKey{}, false
}

// sameAs returns the watches that are one to the server, and false if one of them is
// needed.
func (t *watchTable) sameAs(spot *watchSpot) (all []*watchSpot, idle bool) {
	for _, kind := range sameOnServer[spot.key.kind] {
		if other := t.spots[watchKey{kind, spot.key.path}]; other != nil {
			if other.idle == nil {
				return nil, false
			}
			all = append(all, other)
		}
	}
	return all, true
}

// keep notes that a watch was not taken back after all.
func (t *watchTable) keep(key watchKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spots == nil || t.spots[key] != nil { // the session is over, or somebody has asked for it anew
		return
	}
	spot := &watchSpot{table: t, key: key, armed: true, waiters: map[*Watch]struct{}{}}
	t.spots[key] = spot
	t.markIdle(spot)
}

// sameOnServer holds the kinds that are one watch to the server.
var sameOnServer = map[watchKind][]watchKind{
	dataWatch: {dataWatch, existsWatch}, existsWatch: {dataWatch, existsWatch}, childWatch: {childWatch},
}

// checkIdle takes a watch back if one is due. It returns the time until it should look
// again.
func (s *Session) checkIdle(now time.Time) time.Duration {
	if !s.gate.isOpen() || s.core.keepsWatches.Load() {
		return time.Hour
	}
	if wait := s.watch.idleFor(now, s.Timeout()); wait > 0 {
		return wait
	}
	s.guard.RemoveWatch(s.nextIdle)
	return time.Hour // the answer wakes
}

// nextIdle forgets the watch that is to be taken back next.
func (s *Session) nextIdle() (guard.IdleWatch, bool) {
	key, ok := s.watch.takeIdle(time.Now(), s.Timeout())
	return guard.IdleWatch{Path: key.path, Children: key.kind == childWatch, Kept: func(always bool) {
		if always { // by a server of before 3.5, which does not know the request
			s.core.keepsWatches.Store(true)
		}
		s.watch.keep(key)
	}}, ok
}
