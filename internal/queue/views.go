package queue

import (
	"context"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

// views are the views of one session. One that no position uses knows nothing of the
// queue, but for nodes that are held; a few are kept, so that the next position need
// not make one.
type views struct {
	mu  sync.Mutex
	all map[viewKey]*view

	awaitEnd sync.Once // has those woken that stand behind the front when the session ends
}

// unusedViews is how many views may be there before one that is not used is removed.
const unusedViews = 256

// A viewKey identifies a queue in a session: equal full paths are the same node.
type viewKey struct {
	path  string
	kinds [6]string // as many as there are in all
}

type viewsKey struct{}

func newViews() any { return &views{all: map[viewKey]*view{}} }

// use returns the view of a queue in the session of the client, which is pinned to it.
func (q *Queue) use(client *framework.Client, s *framework.Session) *view {
	all := kit.Of(client).Kept(s, viewsKey{}, newViews).(*views) //nolint:forcetypeassert // of newViews
	key := viewKey{path: client.FullPath(q.Path)}
	copy(key.kinds[:], q.Kinds)
	all.mu.Lock()
	defer all.mu.Unlock()
	v := all.all[key]
	if v == nil {
		v = &view{all: all, key: key, client: client, session: s, path: q.Path, kinds: q.Kinds, recheck: q.Recheck, joins: make(chan struct{}, maxJoins)}
		v.pause = hold.LookInterval(s, key.path)
		v.lister = kit.Of(client).Reporting(v.onFailure)
		v.unlisten = kit.Of(client).OnDeleted(s, v.path, v)
		all.all[key] = v
	}
	if v.users++; v.users == 1 {
		v.open()
	}
	return v
}

// leave ends one use of the view.
func (v *view) leave() {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	if v.users--; v.users > 0 {
		return
	}
	v.close()
	if len(v.all.all) > unusedViews {
		delete(v.all.all, v.key)
		v.unlisten()
	}
}

func (v *view) open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = false
	v.crowd = crowdsOf(v.client).use(v.key)
}

// close ends all that the view does. A request that is under way ends with its answer.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	v.crowd.leave()
	if v.slow != nil {
		v.slow.Stop()
		v.slow = nil
	}
	for _, n := range v.nodes {
		v.dropUnused(n)
	}
	v.listed, v.names, v.gone, v.others, v.rechecks, v.over, v.failure = 0, nil, nil, nil, nil, nil, nil
}

// slowly lists again about once per session timeout, while a position waits: see
// hold.LookAgain. What that finds wakes those that wait for a node that is gone. The
// caller has the lock.
func (v *view) slowly() {
	if v.slow != nil || v.closed {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(v.pause, func() {
		v.mu.Lock()
		defer v.unlock()
		if v.slow != timer {
			return
		}
		for p := range v.dependents {
			p.lookDue = true
			p.notify()
		}
		v.list()
		timer.Reset(v.pause)
	})
	v.slow = timer
}

// unlock gives the lock back, and sends what was found to be needed. Nothing is sent
// under the lock: a request takes it when it gets its place among those of the
// connection.
func (v *view) unlock() {
	for {
		list, n := v.listDue, v.nextRead()
		v.listDue = false
		v.mu.Unlock()
		if list {
			v.sendListing()
		}
		if n == nil {
			return
		}
		n.send()
		v.mu.Lock()
	}
}

// flush sends what was found to be needed by a caller that could not send it.
func (v *view) flush() {
	v.mu.Lock()
	v.unlock()
}

// run carries out requests in a goroutine of the session. They end with the session
// only: other positions than the one that needs them first use what comes of them.
func (v *view) run(f func(ctx context.Context)) { v.session.Go(f) }
