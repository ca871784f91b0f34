package integration

import (
	"bufio"
	"context"
	"log/slog"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/probe"
)

// onTmpfs is the folder of the real server's data, for a comparison with a server that
// keeps its data in memory.
const onTmpfs = "/dev/shm"

// BenchmarkServers creates and deletes ephemeral sequential nodes on zktest and on a
// real server whose data is on tmpfs, each a process of its own behind loopback TCP,
// with go-zookeeper as the client of both and alternately in one run. "ratio" is
// zktest's rate relative to the real server's.
func BenchmarkServers(b *testing.B) {
	fake := probe.Connect(b, startTestserver(b))
	zookeeper := probe.Connect(b, ensemble.New(b, ensemble.Options{
		Backend: ensemble.BackendProcess, DataDir: onTmpfs, FullSpeed: true,
	}).Servers()[0])
	for start := time.Now(); time.Since(start) < warmUp(); {
		pairs(b, zookeeper, 16, turn)
		pairs(b, fake, 16, turn)
	}
	for _, bench := range []struct {
		name    string
		workers int
	}{{"workers=1", 1}, {"workers=16", 16}} {
		b.Run(bench.name, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				ours += pairs(b, fake, bench.workers, turn)
				theirs += pairs(b, zookeeper, bench.workers, turn)
			}
			n := float64(b.N * turn)
			b.ReportMetric(float64(ours.Nanoseconds())/n, "zktest-ns/pair")
			b.ReportMetric(float64(theirs.Nanoseconds())/n, "zookeeper-ns/pair")
			b.ReportMetric(float64(theirs)/float64(ours), "ratio")
		})
	}
}

// turn is the number of pairs on one server before those on the other.
const turn = 64

// pairs lets workers share one connection to create and delete n nodes and returns the
// time for all.
func pairs(b *testing.B, conn *zk.Conn, workers, n int) time.Duration {
	var group sync.WaitGroup
	start := time.Now()
	for range workers {
		group.Go(func() {
			for range n / workers {
				path, err := conn.Create("/x-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
				if err == nil {
					err = conn.Delete(path, -1)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return time.Since(start)
}

// startTestserver runs "zkrecipes testserver" until the benchmark ends and returns its
// address.
func startTestserver(b *testing.B) string {
	b.Helper()
	path, err := built()
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, path, "testserver", "--port", "0")
	out, err := command.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, command.Start())
	b.Cleanup(func() {
		cancel()
		_ = command.Wait()
	})
	lines := bufio.NewScanner(out)
	require.True(b, lines.Scan(), "no address")
	return lines.Text()
}

// BenchmarkStart starts zktest in this process, connects over loopback TCP, reads a
// node, and closes both. "first-op-ns" is the median time from the start to the read's
// answer: most of it is spent in the client, and a mean would depend on the machine's
// other work.
func BenchmarkStart(b *testing.B) {
	b.Run("client=go-zookeeper", func(b *testing.B) {
		benchStart(b, func(addr string) (done func()) {
			conn, events, err := zk.Connect([]string{addr}, sessionTimeout, zk.WithLogger(silent{}))
			if err == nil {
				_, _, err = conn.Exists("/")
			}
			require.NoError(b, err)
			return func() {
				conn.Close()
				for range events { // until its goroutines have ended
				}
			}
		})
	})
	b.Run("client=framework", func(b *testing.B) {
		ctx := context.Background()
		benchStart(b, func(addr string) (done func()) {
			client, err := framework.Connect(ctx, framework.Config{
				Servers: []string{addr}, SessionTimeout: sessionTimeout, Logger: slog.New(slog.DiscardHandler),
			})
			require.NoError(b, err)
			_, _, err = client.Exists(ctx, "/")
			require.NoError(b, err)
			return func() { require.NoError(b, client.Close()) }
		})
	})
}

// benchStart measures a client whose first operation is done when connect returns.
func benchStart(b *testing.B, connect func(addr string) (done func())) {
	var first []time.Duration
	for b.Loop() {
		start := time.Now()
		server, err := zktest.Start()
		require.NoError(b, err)
		done := connect(server.Addr())
		first = append(first, time.Since(start))
		done()
		server.Close()
	}
	slices.Sort(first)
	b.ReportMetric(float64(first[len(first)/2].Nanoseconds()), "first-op-ns")
}

// silent is a logger for go-zookeeper.
type silent struct{}

// Printf does nothing.
func (silent) Printf(string, ...any) {}
