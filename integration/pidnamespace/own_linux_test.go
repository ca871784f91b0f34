package pidnamespace

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// everywhere is a script whose processes have left its session and process group; some
// ignore TERM.
const everywhere = `
sleep 600 &
(sleep 600 &)
setsid sh -c 'sleep 600 & sleep 600' &
(setsid sh -c 'trap "" TERM INT HUP; echo ready; sleep 600 & sleep 600' &)
sleep 600`

// No process is left even if zkrecipes and its guardian are killed at once: the kernel
// ends the namespace.
func TestBothAreKilledAtOnce(t *testing.T) {
	r := start(t, zktest.NewServer(t), asItIs, everywhere, "--pid-namespace")
	require.Equal(t, "ready", r.line())
	guardian := r.guardian()
	for _, pid := range []int{guardian, r.cmd.Process.Pid} { // so that neither notices the end of the other
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	for _, pid := range []int{guardian, r.cmd.Process.Pid} {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	require.Equal(t, -1, r.exit())
}

// Otherwise the command behaves as without the flag.
func TestNamespaceOfTheCommand(t *testing.T) {
	server := zktest.NewServer(t)
	for name, test := range map[string]struct {
		ends func(*run)
		code int
	}{
		"zkrecipes is killed": {func(r *run) { require.NoError(t, r.cmd.Process.Kill()) }, -1},
		"the guardian is killed": {func(r *run) {
			require.NoError(t, syscall.Kill(r.guardian(), syscall.SIGKILL))
		}, 128 + 9},
		"loss": {func(*run) { require.True(t, server.ExpireSession(server.Sessions()[0].ID)) }, 76},
		"TERM": {func(r *run) { require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM)) }, 128 + 15},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, server, asItIs, everywhere, "--pid-namespace", "--kill-after", "300ms", "--grace", "300ms")
			require.Equal(t, "ready", r.line())
			test.ends(r)
			require.Equal(t, test.code, r.exit())
			for _, s := range server.Sessions() {
				server.ExpireSession(s.ID) // of the process that was killed
			}
		})
	}
}

func TestCommandSeesItsOwnProcesses(t *testing.T) {
	r := start(t, zktest.NewServer(t), asItIs, `ls /proc | grep -c '^[0-9]'; echo $(cat /proc/1/comm) $PPID; exit 7`, "--pid-namespace")
	require.Contains(t, []string{"3", "4"}, r.line(), "the guardian, the shell, ls and grep")
	require.Equal(t, "zkr-guardian 1", r.line())
	require.Equal(t, 7, r.exit())
}

// A later orphan may get the process id of the command.
func TestExitCodeIsTheCommands(t *testing.T) {
	r := start(t, zktest.NewServer(t), asItIs, `
		export number=$$
		setsid sh -c '
			sleep 0.3 # so long that the command has ended, and no process is in its process group
			for i in 1 2 3 4 5 6 7 8 9; do
				(echo $((number - 1)) >/proc/sys/kernel/ns_last_pid; sh -c "[ \$\$ != $number ] || { echo again; exit 42; }" &)
			done
			sleep 0.3' &
		exit 5`, "--pid-namespace")
	require.Equal(t, "again", r.line())
	require.Equal(t, 5, r.exit())
}

// The guardian is killed before it can report that it has started something.
func TestGuardianIsKilledAtOnce(t *testing.T) {
	server := zktest.NewServer(t)
	for range 25 {
		r := start(t, server, asItIs, `setsid sleep 600 & kill -9 $PPID; sleep 600`)
		require.Equal(t, 128+9, r.exit())
	}
}

// Without root, the command fails at once and says so.
func TestNamespaceNeedsRoot(t *testing.T) {
	server := zktest.NewServer(t)
	r := start(t, server, func(cmd *exec.Cmd) {
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}, "true", "--pid-namespace")
	require.Equal(t, 126, r.exit())
	require.Contains(t, r.stderr.String(), "it needs root")
	require.Empty(t, server.Children(testLock))
}
