package interop

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// zkCliSessions are the commands of two users, one after the other.
var zkCliSessions = [][]string{{
	"ls /",
	"create /app hello",
	"create /app again",           // exists
	"create /app/no/parent there", // the parent does not
	"get -s /app",
	"get -w /app",
	"set -s /app hi", // an event
	"set -v 7 /app never",
	"create -e /app/live mine",
	"create /app/live/below it", // an ephemeral node has no children
	"create -s /app/job- first",
	"create -c /app/box contents",
	"create -t 600000 /app/brief words",
	"stat /app/box",
	"ls -w /app",
	"create -s -e /app/job- second", // an event
	"ls -s /app",
	"ls -R /",
	"getAllChildrenNumber /app",
	"getEphemerals /app/job",
	"addWatch -m PERSISTENT_RECURSIVE /app/box",
	"create /app/box/one 1", // three events
	"set /app/box/one 2",
	"delete /app/box", // not empty
	"delete -v 0 /app/box/one",
	"delete /app/box/one",
	"removewatches /app/box",
	"whoami",
	"addauth digest ann:secret",
	"setAcl -s /app/brief auth::cdrwa",
	"getAcl -s /app/brief",
	"setAcl /app/box digest:broken:r",
	"setAcl /app/box world:anyone:r",
	"set /app/box more", // not any more
	"create /app/box/two more",
	"setAcl /app/box world:anyone:cdrwa",
	"sync /app",
	"listquota /app",
	"config",
	"reconfig -remove 7", // not allowed by default
}, {
	"ls /app",
	"getEphemerals /app/job",
	"get /app/brief", // hers
	"set /app/brief his",
	"addauth digest ann:secret",
	"get /app/brief",
	"deleteall /app",
	"ls /",
}}

func TestTranscriptZkCli(t *testing.T) {
	requireTranscript(t, func(t *testing.T, addr string) []string {
		var all []string
		for _, commands := range zkCliSessions {
			all = append(all, zkCli(t, addr, commands)...)
		}
		return all
	})
}

// zkCli gives commands to ZooKeeper's own command line. It returns each with its
// output, and then all events, because the order between events and other output
// depends on threads.
func zkCli(t *testing.T, addr string, commands []string) (transcript []string) {
	t.Helper()
	path, err := classPath()
	require.NoError(t, err)
	cli := startJava(t, path, true, "org.apache.zookeeper.ZooKeeperMain", "-server", addr)
	var events []string
	give := func(command string) (printed []string) {
		// The second command sends no request. All lines before its answer are output
		// of the first.
		_, err := fmt.Fprintf(cli.input, "%s\nprintwatches\n", command)
		require.NoError(t, err)
		for {
			switch line := plain(cli.line(t)); {
			case line == "printwatches is on":
				return printed
			case strings.HasPrefix(line, "WatchedEvent"):
				events = append(events, line)
			case line != "":
				printed = append(printed, line)
			}
		}
	}
	for _, command := range commands {
		transcript = append(transcript, "> "+command)
		transcript = append(transcript, give(command)...)
	}
	// Events arrive in order, so this one is the last.
	const last = "WatchedEvent state:SyncConnected type:NodeDataChanged path:/last"
	for _, command := range []string{"create -e /last 0", "get -w /last", "set /last 1"} {
		give(command)
	}
	for len(events) == 0 || events[len(events)-1] != last {
		if line := cli.line(t); strings.HasPrefix(line, "WatchedEvent") {
			events = append(events, line)
		}
	}
	_, err = io.WriteString(cli.input, "quit\n")
	require.NoError(t, err)
	cli.requireRest(t)
	return append(transcript, events...)
}

var (
	clock   = regexp.MustCompile(`^([cm]time) = .*`)
	address = regexp.MustCompile(`^ip: .*`)
	noise   = regexp.MustCompile(`^(Connecting to .*|Welcome to .*|JLine support .*|\[zk: .*|WATCHER::)$`)
)

// plain replaces the parts of a line that differ each time.
func plain(line string) string {
	line = clock.ReplaceAllString(line, "$1 = (a time)")
	line = address.ReplaceAllString(line, "ip: (an address)")
	return noise.ReplaceAllString(line, "")
}
