package zktest

import (
	"fmt"
	"strings"
)

// serverVersion is the version that the server reports. Some clients parse it.
const serverVersion = "3.8.0-zktest, built on 03/01/2022 00:00 UTC"

// fourLetterWord answers a command that is sent in place of a connect request: those
// that clients send, and mntr, by which a test can check for leftovers. It reports
// whether word is such a command. The connection ends after the answer.
func (s *Server) fourLetterWord(c *conn, word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var answer string
	switch word {
	case "ruok":
		answer = "imok"
	case "envi":
		answer = fmt.Sprintf("Environment:\nzookeeper.version=%s\nhost.name=localhost\n", serverVersion)
	case "mntr":
		answer = s.monitorLocked()
	default:
		return false
	}
	c.lastQueued = true
	c.out.put(&parcel{frame: []byte(answer), last: true})
	return true
}

// monitorLocked is the answer to mntr, without values about disks and other servers.
func (s *Server) monitorLocked() string {
	ephemerals := 0
	for _, owned := range s.main.tree.ephemerals {
		ephemerals += len(owned)
	}
	var b strings.Builder
	for _, line := range []struct {
		name  string
		value any
	}{
		{"version", serverVersion},
		{"server_state", "standalone"},
		{"num_alive_connections", len(s.conns)},
		{"znode_count", len(s.main.tree.nodes)},
		{"watch_count", s.main.data.size() + s.main.children.size()},
		{"ephemerals_count", ephemerals},
		{"global_sessions", len(s.sessions)},
	} {
		fmt.Fprintf(&b, "zk_%s\t%v\n", line.name, line.value)
	}
	return b.String()
}
