package ensemble

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/integration/internal/ports"
)

// classPath is what a server needs of Debian's packages; the manifest of the first jar names the rest.
// Another installation, such as "/opt/zookeeper/lib/*", can be named by ZKRECIPES_CLASSPATH.
const classPath = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"

const installServer = "install it with .ci/install-zookeeper, or on Debian and Ubuntu with " +
	"apt-get install --no-install-recommends libzookeeper-java default-jre-headless"

// Each process has three ports of a block: for clients, for its peers and for elections.
const (
	clientPort = iota
	peerPort
	electionPort
	portsPerNode
)

// prepareProcesses lays out the folders and ports of an ensemble of processes.
func prepareProcesses(_ context.Context, o Options) (_ *cluster, err error) {
	command, err := javaCommand(o)
	if err != nil {
		return nil, err
	}
	block, err := ports.Reserve()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.DataDir, "zkrecipes-ensemble-")
	if err != nil {
		block.Release()
		return nil, fmt.Errorf("data folder: %w", err)
	}
	c := &cluster{}
	c.teardown = func() error {
		var errs []error
		for _, n := range c.nodes {
			errs = append(errs, n.Kill())
		}
		block.Release()
		return errors.Join(append(errs, os.RemoveAll(dir))...)
	}
	for i := range o.Nodes {
		home := filepath.Join(dir, "server"+strconv.Itoa(i+1))
		file, err := layOut(home, i, block, o)
		if err != nil {
			return nil, errors.Join(err, c.teardown())
		}
		c.nodes = append(c.nodes, &process{
			addr: block.Address(i*portsPerNode + clientPort),
			log:  filepath.Join(home, "server.log"),
			java: append(slices.Clone(command), file),
		})
	}
	return c, nil
}

// javaCommand is the command line of a server but for its last argument, the configuration file.
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
	return append(command, // a log that is not filled with our own questions
		"-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=warn",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", path, "org.apache.zookeeper.server.quorum.QuorumPeerMain"), nil
}

// layOut makes the folder of server i and returns the path of its configuration file.
func layOut(home string, i int, block *ports.Block, o Options) (file string, err error) {
	data := filepath.Join(home, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(data, "myid"), []byte(strconv.Itoa(i+1)), 0o600); err != nil {
		return "", fmt.Errorf("write myid: %w", err)
	}
	file = filepath.Join(home, "zoo.cfg")
	if err := os.WriteFile(file, []byte(zooCfg(data, block, o)), 0o600); err != nil {
		return "", fmt.Errorf("write zoo.cfg: %w", err)
	}
	return file, nil
}

// zooCfg is the configuration of one server.
func zooCfg(data string, block *ports.Block, o Options) string {
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
		values["clientPort"] = strconv.Itoa(block.Port(clientPort))
		values["clientPortAddress"] = "127.0.0.1"
	} else {
		values["standaloneEnabled"] = "false"
		for n := range o.Nodes {
			port := func(kind int) int { return block.Port(n*portsPerNode + kind) }
			values["server."+strconv.Itoa(n+1)] = fmt.Sprintf("127.0.0.1:%d:%d;127.0.0.1:%d",
				port(peerPort), port(electionPort), port(clientPort))
		}
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

// lastLines returns the last forty lines of a log.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
