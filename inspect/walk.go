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

	queue  Queue
	size   int64 // of a semaphore; 0 if it is not known
	sizeAt int64 // the transaction that stored it, or a later one
}

// A walk finds all places below a path. It lists each node that is not that of a
// contender once.
type walk struct {
	client *framework.Client
	root   string
	places []place
	denied *denied
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
	children []string
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
	children, _, err := w.client.Children(ctx, path)
	if errors.Is(err, framework.ErrNoNode) || w.denied.skips(path, err) {
		return listed{path: path}, nil
	}
	slices.Sort(children)
	return listed{path, children}, err
}

// sort finds the places of one level, and returns the paths of the next one.
func (w *walk) sort(lists []listed) (next []string) {
	at := make(map[string]listed, len(lists))
	for _, l := range lists {
		at[l.path] = l
	}
	for _, l := range lists {
		dir, name := split(l.path)
		permits := len(znode.Contenders(at[dir+"/"+znode.PermitsDir].children, znode.Permit))
		switch isSemaphore := dir != "" && l.path != w.root && permits > 0; {
		case l.path == "/", name == znode.LockDelayDir, name == znode.QueueDir && isSemaphore:
		case name == znode.PermitsDir && isSemaphore:
			// Without permits, but with a queue, there may be a lock at the path of
			// that.
			waiting := znode.Contenders(at[dir+"/"+znode.QueueDir].children, znode.Locks...)
			w.places = append(w.places, place{path: dir, recipe: Semaphore, contended: len(waiting) > 0})
			w.addQueues(l)
		default:
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
	for _, q := range []struct {
		recipe Recipe
		single bool
		kinds  []string
	}{{Lock, false, znode.Locks}, {Election, false, []string{znode.Latch}}, {Semaphore, true, []string{znode.Permits}}} {
		if n := len(znode.Contenders(l.children, q.kinds...)); n > 0 {
			w.places = append(w.places, place{path: l.path, recipe: q.recipe, single: q.single, contended: n > 1})
		}
	}
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
