package zktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// serverVersion is what the server calls itself where a client asks. Some clients want a version they can parse.
const serverVersion = "3.8.0-zktest, built on 03/01/2022 00:00 UTC"

// fourLetterWord answers one of the commands that an administrator sends instead of a connect request. It tells whether it
// was one; then the connection ends after the answer.
func (s *Server) fourLetterWord(c *conn, word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	switch word {
	case "ruok":
		b.WriteString("imok")
	case "srvr", "stat":
		s.writeStatLocked(&b, word == "stat")
	case "envi":
		fmt.Fprintf(&b, "Environment:\nzookeeper.version=%s\nhost.name=localhost\n", serverVersion)
	case "mntr":
		s.writeMonitorLocked(&b)
	case "wchs":
		w := s.main.data
		fmt.Fprintf(&b, "%d connections watching %d paths\nTotal watches:%d\n", len(w.byConn), len(w.byPath), w.size())
	case "wchc":
		s.writeWatchesLocked(&b)
	case "wchp":
		s.writeWatchedPathsLocked(&b)
	case "cons":
		for _, x := range s.conns {
			s.writeConnLocked(&b, x, false)
		}
		b.WriteByte('\n')
	case "dump":
		s.writeDumpLocked(&b)
	case "isro":
		b.WriteString("rw")
	default:
		return false
	}
	c.lastQueued = true
	c.out.put(&parcel{frame: []byte(b.String()), last: true})
	return true
}

// writeStatLocked writes what srvr answers and, with the clients, what stat answers.
func (s *Server) writeStatLocked(b *strings.Builder, clients bool) {
	fmt.Fprintf(b, "Zookeeper version: %s\n", serverVersion)
	if clients {
		b.WriteString("Clients:\n")
		for _, x := range s.conns {
			s.writeConnLocked(b, x, true)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n"+
		"Zxid: 0x%x\nMode: standalone\nNode count: %d\n",
		s.received, s.sentLocked(), len(s.conns), s.zxid, len(s.main.tree.nodes))
}

func (s *Server) sentLocked() int64 {
	sent := s.received
	for _, c := range s.conns {
		sent += c.stats.sent - c.stats.received
	}
	return sent
}

// writeConnLocked writes one line about a connection.
func (s *Server) writeConnLocked(b *strings.Builder, c *conn, brief bool) {
	fmt.Fprintf(b, " /%s[1](queued=%d,recved=%d,sent=%d", c.nc.RemoteAddr(), c.out.len(), c.stats.received, c.stats.sent)
	if !brief && c.session != nil {
		fmt.Fprintf(b, ",sid=0x%x,lop=%s,est=%d,to=%d,lcxid=0x%x,lzxid=0x%x,lresp=0,llat=0,minlat=0,avglat=0,maxlat=0",
			c.session.id, c.stats.lastOp, c.since.UnixMilli(), c.session.timeout.Milliseconds(),
			c.stats.lastXid, c.stats.lastZxid)
	}
	b.WriteString(")\n")
}

// writeMonitorLocked writes the figures of mntr that a single server without a disk can have.
func (s *Server) writeMonitorLocked(b *strings.Builder) {
	ephemerals, size := 0, 0
	for _, owned := range s.main.tree.ephemerals {
		ephemerals += len(owned)
	}
	for path, n := range s.main.tree.nodes {
		size += len(path) + len(n.data)
	}
	for _, line := range []struct {
		name  string
		value any
	}{
		{"version", serverVersion},
		{"server_state", "standalone"},
		{"uptime", time.Since(s.started).Milliseconds()},
		{"packets_received", s.received},
		{"packets_sent", s.sentLocked()},
		{"num_alive_connections", len(s.conns)},
		{"outstanding_requests", 0},
		{"znode_count", len(s.main.tree.nodes)},
		{"watch_count", s.main.data.size()},
		{"ephemerals_count", ephemerals},
		{"approximate_data_size", size},
		{"global_sessions", len(s.sessions)},
		{"local_sessions", 0},
	} {
		fmt.Fprintf(b, "zk_%s\t%v\n", line.name, line.value)
	}
}

// writeWatchesLocked writes the watches on data by session.
func (s *Server) writeWatchesLocked(b *strings.Builder) {
	for _, c := range s.conns {
		if paths := s.main.data.byConn[c]; len(paths) > 0 && c.session != nil {
			fmt.Fprintf(b, "0x%x\n", c.session.id)
			for _, path := range slices.Sorted(maps.Keys(paths)) {
				fmt.Fprintf(b, "\t%s\n", path)
			}
		}
	}
	b.WriteByte('\n')
}

// writeWatchedPathsLocked writes the watches on data by path.
func (s *Server) writeWatchedPathsLocked(b *strings.Builder) {
	for _, path := range slices.Sorted(maps.Keys(s.main.data.byPath)) {
		b.WriteString(path + "\n")
		for _, w := range s.main.data.byPath[path] {
			if w.conn.session != nil {
				fmt.Fprintf(b, "\t0x%x\n", w.conn.session.id)
			}
		}
	}
	b.WriteByte('\n')
}

// writeDumpLocked writes the sessions and their ephemeral nodes.
func (s *Server) writeDumpLocked(b *strings.Builder) {
	fmt.Fprintf(b, "SessionTracker dump:\nSession Sets (%d)/(%d):\n", len(s.sessions), len(s.sessions))
	for _, id := range s.sessionIDsLocked() {
		fmt.Fprintf(b, "\t0x%x\t%dms\n", id, s.sessions[id].timeout.Milliseconds())
	}
	fmt.Fprintf(b, "ephemeral nodes dump:\nSessions with Ephemerals (%d):\n", len(s.main.tree.ephemerals))
	for _, id := range slices.Sorted(maps.Keys(s.main.tree.ephemerals)) {
		fmt.Fprintf(b, "0x%x:\n", id)
		for _, path := range s.main.tree.owned(id) {
			fmt.Fprintf(b, "\t%s\n", path)
		}
	}
	b.WriteString("Connections dump:\n")
	for _, c := range s.conns {
		s.writeConnLocked(b, c, true)
	}
}
