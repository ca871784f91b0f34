package zktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// SessionInfo describes a session.
type SessionInfo struct {
	ID        int64         // never 0
	Client    string        // the last client: a name given to Server.Dial, or an address
	Timeout   time.Duration // as granted
	Deadline  time.Time     // when it expires if no request comes before
	Connected bool          // it has a connection now
	Ephemeral []string      // the paths of its ephemeral nodes, oldest first
}

// Sessions returns the living sessions, oldest first.
func (s *Server) Sessions() []SessionInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]SessionInfo, 0, len(s.sessions))
	for _, id := range s.sessionIDsLocked() {
		x := s.sessions[id]
		out = append(out, SessionInfo{
			ID: id, Client: x.client, Timeout: x.timeout, Deadline: x.deadline, Connected: x.conn != nil,
			Ephemeral: s.main.tree.owned(id),
		})
	}
	return out
}

// NodeInfo describes a node.
type NodeInfo struct {
	Path           string        // absolute
	Data           []byte        // a copy
	EphemeralOwner int64         // 0 unless ephemeral
	Container      bool          // deleted some time after its last child
	TTL            time.Duration // 0 unless the node has one
	Version        int32         // how often the data was set
	Czxid, Mzxid   int64         // transactions that created it and last set its data
	Children       int           // how many it has now
	Sequence       int32         // the number of the next sequential child
}

// Node returns a node, without permissions, counts and faults. ok is false if there is
// none.
func (s *Server) Node(path string) (info NodeInfo, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.main.tree.get(path)
	if n == nil {
		return NodeInfo{}, false
	}
	return NodeInfo{
		Path: path, Data: slices.Clone(n.data), EphemeralOwner: n.stat.EphemeralOwner, Container: n.kind == container,
		TTL: time.Duration(n.ttl) * time.Millisecond, Version: n.stat.Version, Czxid: n.stat.Czxid, Mzxid: n.stat.Mzxid,
		Children: len(n.children), Sequence: n.stat.Cversion,
	}, true
}

// Children returns the names of a node's children in alphabetical order, nil if there
// is no such node.
func (s *Server) Children(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.main.tree.get(path)
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.children))
}

// Zxid returns the number of the last transaction.
func (s *Server) Zxid() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zxid
}

// Watches returns the number of watches. Watches on a node's data and on its children
// count separately, so a persistent watch counts twice.
func (s *Server) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, r := range s.replicasLocked() {
		total += r.data.size() + r.children.size()
	}
	return total
}

// replicasLocked returns all replicas, the up-to-date one first.
func (s *Server) replicasLocked() []*replica {
	all := []*replica{s.main}
	for _, client := range slices.Sorted(maps.Keys(s.lagging)) {
		all = append(all, s.lagging[client])
	}
	for _, m := range s.minorities {
		all = append(all, m.replica)
	}
	return all
}

// Dump describes the nodes and sessions, for the message of a failed test. It leaves
// out the nodes that every server has.
func (s *Server) Dump() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "zktest %s, zxid %d\n", s.addr, s.zxid)
	for _, path := range slices.Sorted(maps.Keys(s.main.tree.nodes)) {
		if path == procPath || strings.HasPrefix(path, procPath+"/") {
			continue
		}
		dumpNode(&b, path, s.main.tree.nodes[path])
	}
	for _, id := range s.sessionIDsLocked() {
		x := s.sessions[id]
		state := "disconnected"
		if x.conn != nil {
			state = "connected"
		}
		fmt.Fprintf(&b, "session 0x%x of %s: %s, timeout %s, %d ephemeral nodes\n",
			id, x.client, state, x.timeout, len(s.main.tree.ephemerals[id]))
	}
	for _, m := range s.minorities {
		fmt.Fprintf(&b, "minority at zxid %d, reached by %v\n", m.replica.zxid, s.reachingLocked(m))
	}
	return b.String()
}

// dumpData is how many bytes of a node's data Dump shows.
const dumpData = 40

func dumpNode(b *strings.Builder, path string, n *node) {
	fmt.Fprintf(b, "%s czxid %d", path, n.stat.Czxid)
	switch n.kind {
	case ephemeral:
		fmt.Fprintf(b, " owner 0x%x", n.stat.EphemeralOwner)
	case container:
		b.WriteString(" container")
	case ttl:
		fmt.Fprintf(b, " ttl %dms", n.ttl)
	case persistent:
	}
	switch {
	case len(n.data) > dumpData:
		fmt.Fprintf(b, " %q... (%d bytes)", n.data[:dumpData], len(n.data))
	case len(n.data) > 0:
		fmt.Fprintf(b, " %q", n.data)
	}
	b.WriteByte('\n')
}
