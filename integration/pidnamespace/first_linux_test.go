package pidnamespace

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// orphans is a script whose background jobs lose their parent at once, and end soon.
const orphans = `for i in 1 2 3 4 5; do (sleep 0.1 &); done; echo ready; `

// The guardian adopts and reaps the orphans of the command, the first process all
// others.
func TestFirstProcessReapsOrphans(t *testing.T) {
	r := start(t, zktest.NewServer(t), inContainer, orphans+"cat")
	require.Equal(t, "ready", r.line())
	first := r.cmd.Process.Pid
	guardian := r.guardian()
	until(t, "only the shell's child is left", func() bool { return len(childrenOf(t, guardian)) == 1 })

	// As docker exec does: it is in the container, but has no parent there.
	enter := exec.Command("nsenter", "-t", strconv.Itoa(first), "-p", "-m", "sh", "-c", orphans)
	out, err := enter.CombinedOutput()
	require.NoError(t, err, string(out))
	until(t, "none of its orphans is left, not as a zombie either", func() bool { return len(childrenOf(t, first)) == 1 })

	require.NoError(t, r.stdin.Close())
	require.Zero(t, r.exit())
}

// A stop does not wait for a zombie.
func TestStopInAContainerTakesNoLongerThanItMust(t *testing.T) {
	server := zktest.NewServer(t)
	r := start(t, server, inContainer, `(sleep 600 &); trap "exit 3" TERM; echo ready; while :; do sleep 0.01; done`, "--session-timeout", "40s", "--grace", "10s")
	require.Equal(t, "ready", r.line())
	require.True(t, server.ExpireSession(server.Sessions()[0].ID))
	require.Equal(t, 76, r.exit())
	at := map[string]time.Time{}
	for line := range strings.SplitSeq(strings.TrimSpace(r.stderr.String()), "\n") {
		var event struct {
			Event string
			Time  time.Time
		}
		if json.Unmarshal([]byte(line), &event) == nil { // the shell writes as well
			at[event.Event] = event.Time
		}
	}
	require.Contains(t, at, "stopped")
	require.Less(t, at["stopped"].Sub(at["lost"]), 5*time.Second, "of a grace of 10 s")
}

// A /proc of another PID namespace is refused.
func TestForeignProc(t *testing.T) {
	server := zktest.NewServer(t)
	r := start(t, server, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	}, `echo ready; cat`)
	require.Equal(t, "ready", r.line())
	require.True(t, server.ExpireSession(server.Sessions()[0].ID))
	require.Equal(t, 76, r.exit())
	require.Contains(t, r.stderr.String(), "/proc belongs to another PID namespace")
}

// A process that cannot be seen does not count as ended.
func TestForeignProcWhenTheGuardianIsKilled(t *testing.T) {
	server := zktest.NewServer(t)
	r := start(t, server, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	}, `exec 3<&0; setsid sh -c 'echo ready; cat <&3' & sleep 600`)
	require.Equal(t, "ready", r.line())
	require.NoError(t, syscall.Kill(r.guardian(), syscall.SIGKILL))
	<-time.After(300 * time.Millisecond)
	require.Len(t, server.Children(testLock), 1)
	require.NoError(t, r.stdin.Close())
	require.Equal(t, 128+9, r.exit())
}
