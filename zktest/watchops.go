package zktest

import "github.com/zkrecipes/zkrecipes/internal/jute"

// Kinds of watches a client can ask to check or remove, as on the wire. They are bits:
// 2 is the watches on data.
const (
	watcherChildren int32 = 1
	watcherAny      int32 = 3
)

// watchRequestLocked does a request that is about watches only.
func (s *Server) watchRequestLocked(c *conn, r request) result {
	d := jute.NewDecoder(r.body)
	res := result{zxid: c.replica.zxid}
	switch r.op {
	case OpSetWatches, OpSetWatches2:
		res.events, res.code = c.setWatches(d, r.op == OpSetWatches2)
	case OpAddWatch:
		res.code = c.addWatch(d)
		// The reply has a body of its own, an error again; some clients hang up when it
		// is missing.
		res.body = func(e *jute.Encoder) { e.Int32(0) }
	case OpCheckWatches, OpRemoveWatches:
		res.code = c.findWatch(d, r.op == OpRemoveWatches)
	}
	return res
}

// addWatch sets a persistent watch, on data and children both.
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

// findWatch tells whether the connection watches a path in one of the ways asked for,
// and can take the watches away.
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

// setWatches sets the watches of a client that reconnected, and tells it at once of
// what it missed since the transaction it saw last.
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
			back.tell(nodeCreated, path)
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

// A returning is a connection of a client that had others before.
type returning struct {
	*conn
	seen   int64 // the last transaction that it knows of
	missed []firing
}

func (r *returning) tell(event eventType, path string) {
	r.missed = append(r.missed, firing{r.conn, event, path})
}

// watch sets a watch on a node again, or tells that it has gone or was changed since.
func (r *returning) watch(on *watchTable, path string, event eventType, changed func(*node) int64) {
	switch n := r.replica.tree.get(path); {
	case n == nil:
		r.tell(nodeDeleted, path)
	case changed(n) > r.seen:
		r.tell(event, path)
	default:
		on.add(path, r.conn, oneShot)
	}
}
