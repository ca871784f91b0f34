package framework

import (
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// Watches without a waiter are kept for a while, because a wait that was given up often
// starts again. Then they are removed, so that a long session does not gather them:
// those that were idle for a session timeout, and of more than idleLimit those that
// were idle for longest. Each removal costs a request.
//
// No watch that is needed can be dropped. Which one to remove is decided while nothing
// else can be sent. One that has a waiter then stays. A later read sets the watch
// again, behind the request that removes it; the server carries them out in that order,
// and the answers come in that order. A new connection begins without the idle ones.

// idleLimit is how many idle watches are kept in a session.
const idleLimit = 64

// markIdle records that a watch that the server has is without a waiter. The caller has
// the lock.
func (t *watchTable) markIdle(entry *watchEntry) {
	entry.since = time.Now()
	entry.idle = t.idle.PushBack(entry)
}

// unmarkIdle records that it is not idle, or not there, any more. The caller has the
// lock.
func (t *watchTable) unmarkIdle(entry *watchEntry) {
	if entry.idle != nil {
		t.idle.Remove(entry.idle)
		entry.idle = nil
	}
}

// idleFor returns how long it takes until a watch is to be removed.
func (t *watchTable) idleFor(now time.Time, keep time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch oldest := t.idle.Front(); {
	case oldest == nil:
		return time.Hour
	case t.idle.Len() > t.limit:
		return 0
	default:
		return oldest.Value.(*watchEntry).since.Add(keep).Sub(now)
	}
}

// takeIdle takes the watch out of the table that was idle for longest of those that are
// to be removed, and returns its key. It is false if there is none.
func (t *watchTable) takeIdle(now time.Time, keep time.Duration) (watchKey, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.idle.Front(); e != nil; e = e.Next() {
		entry := e.Value.(*watchEntry)
		if t.idle.Len() <= t.limit && now.Sub(entry.since) < keep {
			break
		}
		if all, ok := t.sameAs(entry); ok {
			for _, entry := range all {
				t.remove(entry)
			}
			return entry.key, true
		}
	}
	return watchKey{}, false
}

// sameAs returns the watches that are one for the server, and false if one of them is
// needed.
func (t *watchTable) sameAs(entry *watchEntry) (all []*watchEntry, idle bool) {
	for _, kind := range sameOnServer[entry.key.kind] {
		if other := t.entries[watchKey{kind, entry.key.path}]; other != nil {
			if other.idle == nil {
				return nil, false
			}
			all = append(all, other)
		}
	}
	return all, true
}

// keep records that a watch was not removed after all.
func (t *watchTable) keep(key watchKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entries == nil || t.entries[key] != nil { // the session is over, or another read has set it again
		return
	}
	entry := &watchEntry{table: t, key: key, armed: true}
	t.entries[key] = entry
	t.markIdle(entry)
}

// sameOnServer holds the kinds that are one watch for the server.
var sameOnServer = map[watchKind][]watchKind{
	dataWatch: {dataWatch, existsWatch}, existsWatch: {dataWatch, existsWatch}, childWatch: {childWatch},
}

// checkIdle removes a watch if one is due. It returns the time until the next check.
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

// nextIdle takes the watch that is to be removed next out of the table. The server may
// just have said that it cannot remove any.
func (s *Session) nextIdle() (guard.IdleWatch, bool) {
	if s.core.keepsWatches.Load() {
		return guard.IdleWatch{}, false
	}
	key, ok := s.watch.takeIdle(time.Now(), s.Timeout())
	return guard.IdleWatch{Path: key.path, Children: key.kind == childWatch, Kept: func(always bool) {
		if always { // by a server of before 3.5, which does not know the request
			s.core.keepsWatches.Store(true)
		}
		s.watch.keep(key)
	}}, ok
}
