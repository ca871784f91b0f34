package ensemble

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// The names of the backends, for Options.Backend and the environment variable
// ZKRECIPES_BACKEND.
const (
	BackendProcess = "process"
	BackendDocker  = "docker"
)

// The names of the files in Options.TLSFolder, all in PEM.
const (
	ServerFile  = "server.pem"
	ClientsFile = "clients.pem"
)

// Limits of the protocol between the servers, in ticks. With the default tick, a
// follower or a leader that is silent counts as failed after two seconds.
const (
	initLimit = 10
	syncLimit = 4
)

// Options describe an ensemble. The zero value is one server with the default backend.
type Options struct {
	// Nodes is the number of servers, 1 (the default) or 3.
	Nodes int
	// TickTime is ZooKeeper's unit of time, 500 ms by default. Session timeouts are
	// kept between 2 and 20 ticks.
	TickTime time.Duration
	// Backend is BackendProcess or BackendDocker. Empty: taken from ZKRECIPES_BACKEND,
	// else processes.
	Backend string
	// ReapInterval is how often the leader looks for empty container nodes to delete, a
	// minute by default.
	ReapInterval time.Duration
	// ExtendedTypes allows nodes with a time to live.
	ExtendedTypes bool
	// NoSync leaves out the fsync of the transaction log before each answer. Killed
	// servers lose nothing by it.
	NoSync bool
	// FullSpeed lets Java optimize what runs often as far as it can, for benchmarks.
	// Else it stops early, which is quicker to start and spares the processor.
	FullSpeed bool
	// DataDir is the folder in which processes keep their data while they live, by
	// default the system's folder for temporary files. Containers ignore it.
	DataDir string
	// Properties are further Java system properties, such as "jute.maxbuffer".
	Properties map[string]string
	// Config holds further lines of zoo.cfg. Neither keys nor values may contain
	// blanks.
	Config map[string]string
	// TLSFolder, if there is one, gives each server a second port, Node.SecureAddr,
	// that takes only TLS and only clients with a certificate. The folder's file
	// ServerFile has the key and the certificate of all servers, ClientsFile the
	// certificates of the authorities that clients' certificates must be from. Servers
	// read them when they start; containers see the folder under the same path.
	TLSFolder string
	// Hosts are where the servers run, one on each, if they are processes; by default
	// on the loopback interface.
	Hosts []Host
	// Publish makes containers reachable through fixed ports of the loopback interface
	// instead of their own addresses. It is always on where those cannot be reached,
	// that is outside Linux.
	Publish bool
}

// A Host has its own address on this machine, such as a network namespace. The server
// on it has ZooKeeper's usual ports.
type Host struct {
	// Addr is its IP address.
	Addr string
	// Command runs the command that follows it there, such as "ip netns exec host1".
	Command []string
}

func (o Options) withDefaults(getenv func(string) string) (Options, error) {
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.Nodes != 1 && o.Nodes != 3 {
		return o, fmt.Errorf("options: Nodes is %d, want 1 or 3", o.Nodes)
	}
	if len(o.Hosts) != 0 && len(o.Hosts) != o.Nodes {
		return o, fmt.Errorf("options: %d Hosts for %d servers", len(o.Hosts), o.Nodes)
	}
	if o.TickTime == 0 {
		o.TickTime = 500 * time.Millisecond
	}
	if o.TickTime < time.Millisecond {
		return o, fmt.Errorf("options: TickTime is %v, want at least 1ms", o.TickTime)
	}
	origin := "options: Backend"
	if o.Backend == "" {
		o.Backend, origin = getenv("ZKRECIPES_BACKEND"), "environment: ZKRECIPES_BACKEND"
	}
	if o.Backend == "" {
		o.Backend = BackendProcess
	}
	if backends[o.Backend] == nil {
		return o, fmt.Errorf("%s is %q, want %q or %q", origin, o.Backend, BackendProcess, BackendDocker)
	}
	if len(o.Hosts) != 0 && o.Backend != BackendProcess {
		return o, fmt.Errorf("options: Hosts are for backend %q only", BackendProcess)
	}
	return o, nil
}

// jvmFlags keep a server small and quick to start, and set what only system properties
// can set.
func (o Options) jvmFlags() []string {
	properties := map[string]string{"zookeeper.jmx.log4j.disable": "true"}
	if o.ReapInterval > 0 {
		properties["znode.container.checkIntervalMs"] = milliseconds(o.ReapInterval)
	}
	if o.ExtendedTypes {
		properties["zookeeper.extendedTypesEnabled"] = "true"
	}
	if o.NoSync {
		properties["zookeeper.forceSync"] = "no"
	}
	maps.Copy(properties, o.Properties)

	flags := []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}
	if o.FullSpeed {
		flags = []string{"-Xmx1g"}
	}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		flags = append(flags, "-D"+key+"="+properties[key])
	}
	return flags
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
