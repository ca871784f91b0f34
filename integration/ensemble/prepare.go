package ensemble

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/integration/internal/ports"
)

// classPath names the jars of Debian's packages that a server needs; the manifest of
// the first jar names the rest. Another installation, such as "/opt/zookeeper/lib/*",
// can be named by ZKRECIPES_CLASSPATH. That leaves out one of the jars for TLS, the
// last one here.
const classPath = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar:/usr/share/java/netty-codec.jar"

// logTime is Java's pattern of the time that begins each line of a log; Go's is
// time.RFC3339Nano.
const logTime = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"

const installServer = "install it with .ci/install-zookeeper, or on Debian and Ubuntu with " +
	"apt-get install --no-install-recommends libzookeeper-java default-jre-headless"

// A place is where a process runs: the command that runs other commands there, if one
// is needed, and the addresses of its server.
type place struct {
	command                        []string
	host                           string
	client, secure, peer, election int // ports
}

func (p place) addr() string { return net.JoinHostPort(p.host, strconv.Itoa(p.client)) }

// secureAddr is the server's address for TLS, "" if it has none.
func (p place) secureAddr(o Options) string {
	if o.TLSFolder == "" {
		return ""
	}
	return net.JoinHostPort(p.host, strconv.Itoa(p.secure))
}

// places returns a place for each server, and a function that releases them.
func places(o Options) (all []place, release func(), err error) {
	for _, h := range o.Hosts {
		all = append(all, place{command: h.Command, host: h.Addr, client: 2181, secure: securePort, peer: 2888, election: 3888})
	}
	if all != nil {
		return all, func() {}, nil
	}
	block, err := ports.Reserve()
	if err != nil {
		return nil, nil, err
	}
	const each = 4
	for i := range o.Nodes {
		first := i * each
		all = append(all, place{
			host: "127.0.0.1", client: block.Port(first), peer: block.Port(first + 1), election: block.Port(first + 2),
			secure: block.Port(first + 3),
		})
	}
	return all, block.Release, nil
}

// prepareProcesses prepares the folders and ports of an ensemble of processes.
func prepareProcesses(_ context.Context, o Options) (_ *cluster, err error) {
	command, err := javaCommand(o)
	if err != nil {
		return nil, err
	}
	where, release, err := places(o)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.DataDir, "zkrecipes-ensemble-")
	if err != nil {
		release()
		return nil, fmt.Errorf("data folder: %w", err)
	}
	c := &cluster{}
	c.teardown = func() error {
		var errs []error
		for _, n := range c.nodes {
			errs = append(errs, n.Kill())
		}
		release()
		return errors.Join(append(errs, os.RemoveAll(dir))...)
	}
	for i, p := range where {
		home := filepath.Join(dir, "server"+strconv.Itoa(i+1))
		file, err := layOut(home, i, where, o)
		if err != nil {
			return nil, errors.Join(err, c.teardown())
		}
		c.nodes = append(c.nodes, &process{
			addr: p.addr(), secure: p.secureAddr(o),
			log:  filepath.Join(home, "server.log"),
			java: slices.Concat(p.command, command, []string{file}),
		})
	}
	return c, nil
}

// javaCommand is the command line of a server but for its last argument, the
// configuration file.
func javaCommand(o Options) ([]string, error) {
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	java, err := exec.LookPath(java)
	if err != nil {
		return nil, fmt.Errorf("no Java to run ZooKeeper with: %w: %s", err, installServer)
	}
	path := os.Getenv("ZKRECIPES_CLASSPATH")
	if path == "" {
		path = classPath
		for jar := range strings.SplitSeq(path, ":") {
			if _, err := os.Stat(jar); err != nil {
				return nil, fmt.Errorf("no ZooKeeper on this host: %w: %s", err, installServer)
			}
		}
	}
	command := append([]string{java}, o.jvmFlags()...)
	return append(command, // without our own requests in the log
		"-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=warn",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat="+logTime,
		"-cp", path, "org.apache.zookeeper.server.quorum.QuorumPeerMain"), nil
}

// layOut makes the folder of server i and returns the path of its configuration file.
func layOut(home string, i int, all []place, o Options) (file string, err error) {
	data := filepath.Join(home, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(data, "myid"), []byte(strconv.Itoa(i+1)), 0o600); err != nil {
		return "", fmt.Errorf("write myid: %w", err)
	}
	file = filepath.Join(home, "zoo.cfg")
	if err := os.WriteFile(file, []byte(zooCfg(data, i, all, o)), 0o600); err != nil {
		return "", fmt.Errorf("write zoo.cfg: %w", err)
	}
	return file, nil
}

// zooCfg is the configuration of server i.
func zooCfg(data string, i int, all []place, o Options) string {
	values := map[string]string{
		"dataDir":                data,
		"tickTime":               milliseconds(o.TickTime),
		"initLimit":              strconv.Itoa(initLimit),
		"syncLimit":              strconv.Itoa(syncLimit),
		"maxClientCnxns":         "0",
		"admin.enableServer":     "false",
		"4lw.commands.whitelist": "*",
	}
	if o.Nodes == 1 {
		values["clientPort"] = strconv.Itoa(all[0].client)
		values["clientPortAddress"] = all[0].host
	} else {
		values["standaloneEnabled"] = "false"
		for n, p := range all {
			values["server."+strconv.Itoa(n+1)] = fmt.Sprintf("%s:%d:%d;%s", p.host, p.peer, p.election, p.addr())
		}
	}
	if o.TLSFolder != "" {
		maps.Copy(values, tlsConfig(o.TLSFolder, all[i].secure))
		values["secureClientPortAddress"] = all[i].host
	}
	maps.Copy(values, o.Config)

	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s=%s\n", key, values[key])
	}
	return b.String()
}

// tail returns the end of a file.
func tail(file string) string {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text))
}

// containing returns the lines of a log that contain text.
func containing(log, text string) []string {
	return slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool { return !strings.Contains(line, text) })
}

// lastLines returns the last forty lines of a log.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
