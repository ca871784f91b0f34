package inspect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A place is a path with contenders of one recipe.
type place struct {
	path      string
	recipe    Recipe
	single    bool // a semaphore with a single queue
	contended bool // one of its contenders may wait

	names []znode.Name // of its contenders, in order; in a semaphore of two queues those that wait
	held  []znode.Name // the permits of such a semaphore

	queue     Queue
	size      int64 // of a semaphore; 0 if it is not known
	sizeKnown bool
	sizeAt    int64 // the transaction that stored it, or a later one
}

// A walk finds all places below a path. It lists each node that is not that of a
// contender once.
type walk struct {
	client *framework.Client
	root   string
	places []place
	denied *denied

	keepsNames bool                // those of all contenders
	records    map[string][]string // the names of the nodes of holders for which a lock-delay has a record, by path
	visit      func(listed)        // called for each node that was listed; nil for none
}

// denied are the paths that the client may not read.
type denied struct {
	mu    sync.Mutex
	paths []string
}

// skips reports whether an error is that a path may not be read, and remembers that.
func (d *denied) skips(path string, err error) bool {
	if !errors.Is(err, framework.ErrNoAuth) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paths = append(d.paths, path)
	return true
}

// sorted returns the paths, each once.
func (d *denied) sorted() []string { return slices.Compact(slices.Sorted(slices.Values(d.paths))) }

// A listed is what a walk has found at one path.
type listed struct {
	path     string
	children []string // sorted
	stat     framework.Stat
	ok       bool // it existed, and may be read
}

// zookeeper is the node that all servers have for themselves.
const zookeeper = "/zookeeper"

// all walks from a path, one level after another.
func (w *walk) all(ctx context.Context, path string) error {
	w.root = path
	for level := []string{path}; len(level) > 0; {
		lists := make([]listed, len(level))
		if err := atATime(len(level), func(i int) (err error) {
			lists[i], err = w.list(ctx, level[i])
			return err
		}); err != nil {
			return err
		}
		level = w.sort(lists)
	}
	return nil
}

func (w *walk) list(ctx context.Context, path string) (listed, error) {
	children, stat, err := w.client.Children(ctx, path)
	if errors.Is(err, framework.ErrNoNode) || w.denied.skips(path, err) {
		return listed{path: path}, nil
	}
	slices.Sort(children)
	return listed{path, children, stat, true}, err
}

// sort finds the places of one level, and returns the paths of the next one.
func (w *walk) sort(lists []listed) (next []string) {
	at := make(map[string]listed, len(lists))
	for _, l := range lists {
		at[l.path] = l
	}
	for _, l := range lists {
		if w.visit != nil && l.ok {
			w.visit(l)
		}
		dir, name := split(l.path)
		switch {
		case l.path == "/":
		case name == znode.LockDelayDir:
			w.keepRecords(dir, l.children)
		case !w.isSemaphore(l.path, at):
			w.addQueues(l)
		case name == znode.PermitsDir:
			w.addSemaphore(dir, at)
			w.addQueues(l)
		}
		for _, child := range l.children {
			if path := join(l.path, child); !leaf(name, child) && w.client.FullPath(path) != zookeeper {
				next = append(next, path)
			}
		}
	}
	return next
}

// isSemaphore reports whether a path is one of the two parents of a semaphore of two
// queues. Where there are no permits, but a queue, there may be a lock at the path of
// that, unless the other parent exists: then permits are to come.
func (w *walk) isSemaphore(path string, at map[string]listed) bool {
	dir, name := split(path)
	if dir == "" || path == w.root || name != znode.PermitsDir && name != znode.QueueDir {
		return false
	}
	permits, found := at[dir+"/"+znode.PermitsDir]
	waiting := at[dir+"/"+znode.QueueDir]
	return found && (contendersIn(permits, znode.Permit) || contendersIn(waiting, znode.Locks...))
}

func contendersIn(l listed, kinds ...string) bool {
	return slices.ContainsFunc(l.children, func(child string) bool {
		_, contends := znode.Parse(child, kinds...)
		return contends
	})
}

// addSemaphore adds that of two queues at a path.
func (w *walk) addSemaphore(path string, at map[string]listed) {
	if !at[path+"/"+znode.PermitsDir].ok { // it may not be read, so who holds is not known, or it is gone
		return
	}
	p := place{path: path, recipe: Semaphore}
	p.names = znode.Contenders(at[path+"/"+znode.QueueDir].children, znode.Locks...)
	p.held = znode.Contenders(at[path+"/"+znode.PermitsDir].children, znode.Permit)
	p.contended = len(p.names) > 0
	w.add(p)
}

func (w *walk) add(p place) {
	if !w.keepsNames {
		p.names, p.held = nil, nil
	}
	w.places = append(w.places, p)
}

func (w *walk) keepRecords(path string, names []string) {
	if w.keepsNames && len(names) > 0 {
		w.records[path] = names
	}
}

// leaf reports whether nothing can be below a node: it is that of a contender, or the
// record of a run.
func leaf(dir, child string) bool {
	if _, contends := znode.Parse(child, znode.All...); contends {
		return true
	}
	_, _, run := znode.ParseRun(child)
	return run && dir == znode.RecordsDir
}

// addQueues adds those whose contenders are the children of a path. What is that of a
// stripe or a run is a lock.
func (w *walk) addQueues(l listed) {
	for _, p := range queuesAt(l.path, l.children) {
		w.add(*p)
	}
}

// queuesAt returns the queues whose contenders are the children of a path.
func queuesAt(path string, children []string) (all []*place) {
	for _, recipe := range []Recipe{Lock, Election, Semaphore} {
		p := &place{path: path, recipe: recipe, single: recipe == Semaphore, queue: Queue{Recipe: recipe}}
		p.names = znode.Contenders(children, p.kinds()...)
		p.contended = len(p.names) > 1
		if len(p.names) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// contended returns the places where one may wait.
func (w *walk) contended() []place {
	return slices.DeleteFunc(slices.Clone(w.places), func(p place) bool { return !p.contended })
}

// split splits a path into that of its parent and the name.
func split(path string) (dir, name string) {
	at := strings.LastIndexByte(path, '/')
	return path[:at], path[at+1:]
}

func join(dir, child string) string { return strings.TrimSuffix(dir, "/") + "/" + child }
