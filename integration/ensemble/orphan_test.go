package ensemble

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/ory/dockertest/v3/docker"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// victim is set in the environment of a test binary that starts a server and is killed
// then.
const victim = "ZKRECIPES_TEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(victim) != "" {
		startAndHang()
		return
	}
	goleak.VerifyTestMain(m)
}

func startAndHang() {
	e, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(e.Node(0).Addr())
	select {}
}

func TestNoServerOutlivesItsProgramForLong(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := exec.CommandContext(ctx, os.Args[0])
	program.Env = append(os.Environ(), victim+"=1", "TMPDIR="+t.TempDir())
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	addr := lines.Text()
	_, err = Srvr(ctx, addr)
	require.NoError(t, err, "the program said %q", addr)

	kill := func() {
		require.NoError(t, program.Process.Kill())
		require.Error(t, program.Wait())
	}
	if os.Getenv("ZKRECIPES_BACKEND") == BackendDocker {
		client, err := connectEngine()
		require.NoError(t, err)
		defer client.HTTPClient.CloseIdleConnections()
		// Before the kill: after it, the tests of another package may sweep it at once.
		require.Equal(t, 1, countOwned(t, client, program.Process.Pid), "the left-over to be swept")
		kill()
		sweep(client) // as the next program that starts containers does
		// If such a program, of the tests of another package, was quicker, the removal
		// may still be under way: sweep does not wait for that of others.
		for countOwned(t, client, program.Process.Pid) > 0 {
			require.NoError(t, ctx.Err(), "the left-over was swept")
			time.Sleep(pollInterval)
		}
		return
	}
	kill()
	require.Eventually(t, func() bool {
		_, err := Srvr(ctx, addr)
		return err != nil
	}, time.Minute, pollInterval)
}

func countOwned(t *testing.T, client *docker.Client, pid int) int {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	owned, err := client.ListContainers(docker.ListContainersOptions{
		All: true, Filters: map[string][]string{"label": {ownerLabel + "=" + host + "/" + strconv.Itoa(pid)}},
	})
	require.NoError(t, err)
	return len(owned)
}

func TestOnlyDeadProcessesOfThisHostLeaveOrphans(t *testing.T) {
	gone := exec.Command(os.Args[0], "-test.run=^$")
	require.NoError(t, gone.Run())
	host, err := os.Hostname()
	require.NoError(t, err)
	dead := strconv.Itoa(gone.Process.Pid)

	require.True(t, orphaned(host+"/"+dead))
	require.False(t, orphaned(host+"/"+strconv.Itoa(os.Getpid())))
	require.False(t, orphaned("elsewhere."+host+"/"+dead))
	require.False(t, orphaned(host))
	require.False(t, orphaned(""))
}
