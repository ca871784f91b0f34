package zktest

import (
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// readLocked handles a request that changes nothing but watches.
func (s *Server) readLocked(c *conn, r request) result {
	d := jute.NewDecoder(r.body)
	var body func(*jute.Encoder)
	code := OK
	switch r.op {
	case OpExists:
		path, watch := d.String(), d.Bool()
		if d.Err() == nil {
			body, code = c.exists(path, watch)
		}
	case OpGetData:
		path, watch := d.String(), d.Bool()
		if d.Err() == nil {
			body, code = c.getData(path, watch)
		}
	case OpGetChildren, OpGetChildren2:
		path, watch := d.String(), d.Bool()
		if d.Err() == nil {
			body, code = c.getChildren(path, watch, r.op == OpGetChildren2)
		}
	case OpGetACL:
		body, code = c.getACL(d.String())
	case OpGetAllChildrenNumber:
		body, code = c.getAllChildrenNumber(d.String())
	case OpGetEphemerals:
		body = c.getEphemerals(d.String())
	case OpMultiRead:
		body, code = c.multiRead(d)
	case OpWhoAmI:
		body = c.whoAmI()
	}
	if d.Err() != nil {
		code = MarshallingError
	}
	return result{code: code, body: body, zxid: c.replica.zxid}
}

// readable returns a node that the connection may read.
func (c *conn) readable(path string) (*node, Code) {
	n := c.replica.tree.get(path)
	if n == nil {
		return nil, NoNode
	}
	if !allowed(n.acl, permRead, c.auth) {
		return nil, NoAuth
	}
	return n, OK
}

// exists is the only read that needs no permission, and whose watch is set even without
// a node.
func (c *conn) exists(path string, watch bool) (func(*jute.Encoder), Code) {
	if strings.IndexByte(path, 0) >= 0 {
		return nil, BadArguments
	}
	if watch {
		c.replica.data.add(path, c, oneShot)
	}
	n := c.replica.tree.get(path)
	if n == nil {
		return nil, NoNode
	}
	stat := n.clientStat()
	return func(e *jute.Encoder) { e.Stat(&stat) }, OK
}

func (c *conn) getData(path string, watch bool) (func(*jute.Encoder), Code) {
	n, code := c.readable(path)
	if code != OK {
		return nil, code
	}
	if watch {
		c.replica.data.add(path, c, oneShot)
	}
	data, stat := n.data, n.clientStat()
	return func(e *jute.Encoder) { e.Buffer(data); e.Stat(&stat) }, OK
}

func (c *conn) getChildren(path string, watch, withStat bool) (func(*jute.Encoder), Code) {
	n, code := c.readable(path)
	if code != OK {
		return nil, code
	}
	if watch {
		c.replica.children.add(path, c, oneShot)
	}
	names, stat := n.list(), n.clientStat()
	return func(e *jute.Encoder) {
		e.Strings(names)
		if withStat {
			e.Stat(&stat)
		}
	}, OK
}

// getACL needs the permission to read or to administer the node. It hides digests from
// clients that may only read.
func (c *conn) getACL(path string) (func(*jute.Encoder), Code) {
	n := c.replica.tree.get(path)
	if n == nil {
		return nil, NoNode
	}
	if !allowed(n.acl, permRead|permAdmin, c.auth) {
		return nil, NoAuth
	}
	acl, stat := n.acl, n.clientStat()
	if !allowed(n.acl, permAdmin, c.auth) {
		acl = maskedACL(acl)
	}
	return func(e *jute.Encoder) { e.ACLs(acl); e.Stat(&stat) }, OK
}

func (c *conn) getAllChildrenNumber(path string) (func(*jute.Encoder), Code) {
	if _, code := c.readable(path); code != OK {
		return nil, code
	}
	total := c.replica.tree.descendants(path)
	return func(e *jute.Encoder) { e.Int32(total) }, OK
}

// getEphemerals lists the session's ephemeral nodes whose path begins with prefix.
func (c *conn) getEphemerals(prefix string) func(*jute.Encoder) {
	if trimmed := strings.TrimSpace(prefix); trimmed == rootPath {
		prefix = ""
	} else if trimmed == "" {
		prefix = ""
	}
	var paths []string
	if c.session != nil {
		paths = slices.DeleteFunc(c.replica.tree.owned(c.session.id), func(p string) bool {
			return !strings.HasPrefix(p, prefix)
		})
	}
	return func(e *jute.Encoder) { e.Strings(paths) }
}

// whoAmI lists the connection's identities without their secrets.
func (c *conn) whoAmI() func(*jute.Encoder) {
	ids := c.auth
	return func(e *jute.Encoder) {
		e.Int32(int32(len(ids)))
		for _, id := range ids {
			name := id.ID
			if id.Scheme == "digest" {
				name, _, _ = strings.Cut(name, ":")
			}
			e.String(id.Scheme)
			e.String(name)
		}
	}
}

// multiRead handles several reads, each with its own answer or error.
func (c *conn) multiRead(d *jute.Decoder) (func(*jute.Encoder), Code) {
	parts, code := readMulti(d, true)
	if code != OK {
		return nil, code
	}
	results := make([]partResult, 0, len(parts))
	for _, part := range parts {
		r := partResult{op: part.op}
		if part.op == OpGetData {
			r.body, r.code = c.getData(part.path, false)
		} else {
			r.body, r.code = c.getChildren(part.path, false, false)
		}
		if r.code != OK {
			r.op, r.body = opError, nil
		}
		results = append(results, r)
	}
	return multiReply(results), OK
}
