package interop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const installClients = "install it with .ci/install-clients, or on Debian and Ubuntu with " +
	"apt-get install --no-install-recommends libcurator-recipes-java libslf4j-java libcommons-cli-java default-jdk-headless"

// jars are the jars of Debian's packages.
var jars = []string{
	"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
	"guava", "slf4j-api", "slf4j-simple", "commons-cli",
}

// classPath returns the class path of Java clients.
var classPath = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("ZKRECIPES_CLIENT_CLASSPATH"); path != "" {
		return path, nil
	}
	var path []string
	for _, jar := range jars {
		file := "/usr/share/java/" + jar + ".jar"
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("no Java client on this host: %w: %s", err, installClients)
		}
		path = append(path, file)
	}
	return strings.Join(path, string(os.PathListSeparator)), nil
})

// tool finds a program of the JDK.
func tool(name string) (string, error) {
	command := name
	if home := os.Getenv("JAVA_HOME"); home != "" {
		command = filepath.Join(home, "bin", name)
	}
	command, err := exec.LookPath(command)
	if err != nil {
		return "", fmt.Errorf("no %s on this host: %w: %s", name, err, installClients)
	}
	return command, nil
}

// classDir holds the compiled program until the test binary ends.
var classDir string

// compile compiles the program in the folder java, once, and returns the class path to
// run it with.
var compile = sync.OnceValues(func() (_ string, err error) {
	path, err := classPath()
	if err != nil {
		return "", err
	}
	javac, err := tool("javac")
	if err != nil {
		return "", err
	}
	sources, err := filepath.Glob("java/*.java")
	if err != nil {
		return "", err
	}
	if classDir, err = os.MkdirTemp("", "zkrecipes-interop-"); err != nil {
		return "", fmt.Errorf("folder for classes: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	quick := []string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none"}
	arguments := append(append(quick, "-d", classDir, "-cp", path), sources...)
	if out, err := exec.CommandContext(ctx, javac, arguments...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w\n%s", err, out)
	}
	return classDir + string(os.PathListSeparator) + path, nil
})

// startJava starts a class that is in the class path. With merged its two outputs are
// one.
func startJava(t *testing.T, path string, merged bool, arguments ...string) *program {
	t.Helper()
	java, err := tool("java")
	require.NoError(t, err)
	return start(t, merged, java, append(javaFlags(path), arguments...)...)
}

// javaFlags make Java small and quick to start.
func javaFlags(path string) []string {
	return []string{
		"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", path,
	}
}

// startCurator starts a verb of the program in the folder java.
func startCurator(t *testing.T, verb, addr, path string, options ...string) *program {
	t.Helper()
	classes, err := compile()
	require.NoError(t, err)
	return startJava(t, classes, false, append([]string{"Interop", verb, addr, path}, options...)...)
}
