package zktest

import "slices"

// eventType is the type of a watch event, with ZooKeeper's numbers.
type eventType int32

const (
	nodeCreated         eventType = 1
	nodeDeleted         eventType = 2
	nodeDataChanged     eventType = 3
	nodeChildrenChanged eventType = 4
)

// watchMode is how long a watch lasts and what it covers.
type watchMode int8

const (
	oneShot    watchMode = iota // gone after its first event
	persisting                  // stays
	recursive                   // stays, and covers all nodes below its path
)

// watcher is one connection's watch on one path.
type watcher struct {
	conn *conn
	mode watchMode
}

// watchTable holds the watches of one kind, on data or on children. A connection has at
// most one watch on a path. As on a real 3.8 a later one replaces its mode, so a plain
// read with a watch turns a persistent watch into a one-shot.
type watchTable struct {
	byPath    map[string][]watcher // in the order of registration, which fixes the order of events
	byConn    map[*conn]map[string]struct{}
	recursive int // the number of recursive watches: without any, parents need not be searched
}

func newWatchTable() *watchTable {
	return &watchTable{byPath: map[string][]watcher{}, byConn: map[*conn]map[string]struct{}{}}
}

func (w *watchTable) add(path string, c *conn, mode watchMode) {
	if mode == recursive {
		w.recursive++
	}
	list := w.byPath[path]
	for i := range list {
		if list[i].conn == c {
			if list[i].mode == recursive {
				w.recursive--
			}
			list[i].mode = mode
			return
		}
	}
	w.byPath[path] = append(list, watcher{c, mode})
	paths := w.byConn[c]
	if paths == nil {
		paths = map[string]struct{}{}
		w.byConn[c] = paths
	}
	paths[path] = struct{}{}
}

// remove removes a connection's watch on a path, if there is one.
func (w *watchTable) remove(path string, c *conn) {
	i := slices.IndexFunc(w.byPath[path], func(x watcher) bool { return x.conn == c })
	if i >= 0 {
		w.removeAt(path, i)
	}
}

func (w *watchTable) removeAt(path string, i int) {
	list := w.byPath[path]
	gone := list[i]
	if gone.mode == recursive {
		w.recursive--
	}
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(w.byPath, path)
	} else {
		w.byPath[path] = list
	}
	paths := w.byConn[gone.conn]
	if delete(paths, path); len(paths) == 0 {
		delete(w.byConn, gone.conn)
	}
}

// removeAll removes all watches of a connection.
func (w *watchTable) removeAll(c *conn) {
	for path := range w.byConn[c] {
		w.remove(path, c)
	}
}

func (w *watchTable) has(path string, c *conn) bool {
	_, ok := w.byConn[c][path]
	return ok
}

// trigger returns the connections that get an event, each once, and removes one-shot
// watches.
func (w *watchTable) trigger(path string, event eventType) []*conn {
	var receivers []*conn
	add := func(c *conn) {
		if !slices.Contains(receivers, c) {
			receivers = append(receivers, c)
		}
	}
	for i := 0; i < len(w.byPath[path]); {
		x := w.byPath[path][i]
		if x.mode == recursive && event == nodeChildrenChanged {
			i++ // a recursive watch gets the event of the child
			continue
		}
		add(x.conn)
		if x.mode == oneShot {
			w.removeAt(path, i)
			continue
		}
		i++
	}
	if w.recursive > 0 && event != nodeChildrenChanged {
		ancestors(path, func(above string) {
			for _, x := range w.byPath[above] {
				if x.mode == recursive {
					add(x.conn)
				}
			}
		})
	}
	return receivers
}

// size returns how many watches there are.
func (w *watchTable) size() int {
	n := 0
	for _, paths := range w.byConn {
		n += len(paths)
	}
	return n
}
