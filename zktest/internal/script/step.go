package script

import (
	"fmt"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Step is one request, or a reconnect. Paths are relative to the script's root. A path
// that begins with "!" is sent without the "!" and without the root.
type Step struct {
	Session int         // 0, 1 or 2
	Op      zktest.Op   // the kind of request
	Path    string      // see above; the scheme of auth; the servers that a reconfig lets join
	Data    []byte      // nil is sent as null; the credentials of auth
	Version int32       // expected version; mode of addWatch; kind of removeWatches; user of auth
	Flags   int32       // of a create
	TTL     int64       // milliseconds, of a createTTL
	Watch   bool        // set a watch with a read
	ACL     []jute.ACL  // nil means open to all; an empty one is sent as such
	Parts   []Step      // of a multi
	Lists   [5][]string // paths of setWatches: data, exist, child, persistent, recursive
	Seen    int         // setWatches: how many transactions the client is behind
	Raw     []byte      // sent instead of a proper body, unless nil
}

// Reconnect is a Step's Op that drops the connection and resumes the session on a new
// one.
const Reconnect zktest.Op = -2000

// Script is a list of steps with a name.
type Script struct {
	Name  string // unique in the table
	Steps []Step // in order
}

// String describes a step as it is sent.
func (s Step) String() string {
	var b strings.Builder
	name := s.Op.String()
	if s.Op == Reconnect {
		name = "reconnect"
	}
	fmt.Fprintf(&b, "s%d %s %q", s.Session, name, s.Path)
	if s.Data != nil {
		if len(s.Data) > 20 {
			fmt.Fprintf(&b, " data[%d]", len(s.Data))
		} else {
			fmt.Fprintf(&b, " data=%q", s.Data)
		}
	}
	for _, f := range []struct {
		name  string
		value int64
	}{{"v", int64(s.Version)}, {"flags", int64(s.Flags)}, {"ttl", s.TTL}, {"seen", int64(s.Seen)}} {
		if f.value != 0 {
			fmt.Fprintf(&b, " %s=%d", f.name, f.value)
		}
	}
	if s.Watch {
		b.WriteString(" watch")
	}
	if s.ACL != nil {
		fmt.Fprintf(&b, " acl=%v", s.ACL)
	}
	for i, list := range s.Lists {
		if len(list) > 0 {
			fmt.Fprintf(&b, " list%d=%q", i, list)
		}
	}
	if s.Raw != nil {
		fmt.Fprintf(&b, " raw=%x", s.Raw)
	}
	for _, part := range s.Parts {
		fmt.Fprintf(&b, " [%s]", strings.TrimPrefix(part.String(), "s0 "))
	}
	return b.String()
}

// openACL gives all permissions to all clients.
var openACL = []jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}}

// encode writes the body of the request.
func (s Step) encode(e *jute.Encoder, r *runner) {
	if s.Raw != nil {
		e.Raw(s.Raw)
		return
	}
	switch s.Op {
	case zktest.OpPing, zktest.OpClose, zktest.OpWhoAmI:
	case zktest.OpAuth:
		e.Int32(0)
		e.String(s.Path)
		e.Buffer(s.Data)
	case zktest.OpReconfig:
		e.String(s.Path)
		e.String("")
		e.String("")
		e.Int64(-1)
	case zktest.OpSetWatches, zktest.OpSetWatches2:
		lists := s.Lists[:3]
		if s.Op == zktest.OpSetWatches2 {
			lists = s.Lists[:]
		}
		e.Int64(r.last - int64(s.Seen))
		for _, list := range lists {
			full := make([]string, len(list))
			for i, path := range list {
				full[i] = r.path(path)
			}
			e.Strings(full)
		}
	case zktest.OpMulti, zktest.OpMultiRead:
		for _, part := range s.Parts {
			e.MultiHeader(jute.MultiHeader{Type: int32(part.Op), Err: -1})
			part.encode(e, r)
		}
		e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1})
	default:
		s.encodePath(e, r)
	}
}

// encodePath writes the body of a request that begins with a path.
func (s Step) encodePath(e *jute.Encoder, r *runner) {
	e.String(r.path(s.Path))
	acl := s.ACL
	if acl == nil {
		acl = openACL
	}
	switch s.Op {
	case zktest.OpCreate, zktest.OpCreate2, zktest.OpCreateContainer, zktest.OpCreateTTL:
		e.Buffer(s.Data)
		e.ACLs(acl)
		e.Int32(s.Flags)
		if s.Op == zktest.OpCreateTTL {
			e.Int64(s.TTL)
		}
	case zktest.OpSetData:
		e.Buffer(s.Data)
		e.Int32(s.Version)
	case zktest.OpSetACL:
		e.ACLs(acl)
		e.Int32(s.Version)
	case zktest.OpDelete, zktest.OpCheck, zktest.OpAddWatch, zktest.OpCheckWatches, zktest.OpRemoveWatches:
		e.Int32(s.Version)
	case zktest.OpExists, zktest.OpGetData, zktest.OpGetChildren, zktest.OpGetChildren2:
		e.Bool(s.Watch)
	}
}
