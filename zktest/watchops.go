package zktest

import "github.com/zkrecipes/zkrecipes/internal/jute"

// Kinds of watches that a client can check or remove, as in the protocol. They are
// bits: 2 means watches on data.
const (
	watcherChildren int32 = 1
	watcherAny      int32 = 3
)

// watchRequestLocked handles a request that is only about watches.
func (s *Server) watchRequestLocked(c *conn, r request) result {
	d := jute.NewDecoder(r.body)
	res := result{zxid: c.replica.zxid}
	switch r.op {
	case OpSetWatches, OpSetWatches2:
		res.events, res.code = c.setWatches(d, r.op == OpSetWatches2)
	case OpAddWatch:
		res.code = c.addWatch(d)
		// The body of the reply is an error code again; some clients close the
		// connection if it is missing.
		res.body = func(e *jute.Encoder) { e.Int32(0) }
	case OpCheckWatches, OpRemoveWatches:
		res.code = c.findWatch(d, r.op == OpRemoveWatches)
	}
	return res
}

// addWatch sets a persistent watch, on data and children.
func (c *conn) addWatch(d *jute.Decoder) Code {
	path, mode := d.String(), d.Int32()
	if d.Err() != nil || mode < 0 || mode > 1 {
		return MarshallingError
	}
	c.keepWatch(path, []watchMode{persisting, recursive}[mode])
	return OK
}

func (c *conn) keepWatch(path string, mode watchMode) {
	c.replica.children.add(path, c, mode)
	c.replica.data.add(path, c, mode)
}

// findWatch checks whether the connection watches a path in one of the ways asked for.
// With remove it removes the watches.
func (c *conn) findWatch(d *jute.Decoder, remove bool) Code {
	path, kind := d.String(), d.Int32()
	if d.Err() != nil || kind < watcherChildren || kind > watcherAny {
		return MarshallingError
	}
	found := false
	for i, table := range []*watchTable{c.replica.children, c.replica.data} {
		if kind&(watcherChildren<<i) == 0 {
			continue
		}
		if table.has(path, c) {
			found = true
		}
		if remove {
			table.remove(path, c)
		}
	}
	if !found {
		return NoWatcher
	}
	return OK
}

// setWatches sets the watches of a client that has reconnected. For changes since the
// last transaction that the client saw it sends events at once.
func (c *conn) setWatches(d *jute.Decoder, persistentToo bool) ([]firing, Code) {
	seen := d.Int64()
	data, exist, children := d.Strings(), d.Strings(), d.Strings()
	var kept, deep []string
	if persistentToo {
		kept, deep = d.Strings(), d.Strings()
	}
	if d.Err() != nil {
		return nil, MarshallingError
	}
	back := returning{conn: c, seen: seen}
	for _, path := range data {
		back.watch(c.replica.data, path, nodeDataChanged, func(n *node) int64 { return n.stat.Mzxid })
	}
	for _, path := range exist {
		if c.replica.tree.get(path) != nil {
			back.notify(nodeCreated, path)
		} else {
			c.replica.data.add(path, c, oneShot)
		}
	}
	for _, path := range children {
		back.watch(c.replica.children, path, nodeChildrenChanged, func(n *node) int64 { return n.stat.Pzxid })
	}
	for _, path := range kept {
		c.keepWatch(path, persisting)
	}
	for _, path := range deep {
		c.keepWatch(path, recursive)
	}
	return back.missed, OK
}

// A returning is a connection of a client that had earlier ones.
type returning struct {
	*conn
	seen   int64 // the last transaction that the client saw
	missed []firing
}

func (r *returning) notify(event eventType, path string) {
	r.missed = append(r.missed, firing{r.conn, event, path})
}

// watch sets a watch on a node again, or notifies that the node was deleted or changed.
func (r *returning) watch(on *watchTable, path string, event eventType, changed func(*node) int64) {
	switch n := r.replica.tree.get(path); {
	case n == nil:
		r.notify(nodeDeleted, path)
	case changed(n) > r.seen:
		r.notify(event, path)
	default:
		on.add(path, r.conn, oneShot)
	}
}
