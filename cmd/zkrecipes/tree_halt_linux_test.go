package main

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func init() { playForker = forkWithoutEnd }

// forkWithoutEnd has much memory, so that forks take long, and is nearly always in the
// middle of one.
func forkWithoutEnd() {
	memory, err := syscall.Mmap(-1, 0, 256<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return
	}
	const madvNoHugePage = 15
	_ = syscall.Madvise(memory, madvNoHugePage)
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	lifetime := syscall.NsecToTimespec(int64(300 * time.Millisecond))
	for {
		pid, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if pid == 0 { // in a copy without most of Go's threads
			_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&lifetime)), 0, 0)
			_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}

// A fork that has begun is finished in spite of SIGSTOP, and its child has not got the
// signal.
func TestHaltWaitsForForks(t *testing.T) {
	root := exec.Command(os.Args[0], asCommand, "starter and waiter", "forker")
	require.NoError(t, root.Start())
	tree := newTree(root.Process.Pid, processID{})
	defer func() {
		_ = root.Process.Kill() // so that no process is left
		_ = root.Wait()
	}()
	defer func() { _ = tree.freeze(syscall.SIGKILL) }()
	until(t, "it forks", func() bool { return len(tree.names()) > 2 })
	for attempts, halted := 0, 0; halted < 12; attempts++ {
		if err := tree.halt(maxHaltWait); err != nil { // on a busy machine a fork takes longer
			require.ErrorContains(t, err, "does not stop")
			require.Less(t, attempts, 40)
			require.NoError(t, tree.signal(everything, syscall.SIGCONT))
			continue
		}
		halted++
		before, err := tree.alive()
		require.NoError(t, err)
		<-time.After(30 * time.Millisecond) // a fork takes less
		after, err := tree.alive()
		require.NoError(t, err)
		require.False(t, slices.ContainsFunc(after, func(p procStat) bool { return p.state != 'T' }), "%+v", after)
		require.Len(t, after, len(before))
		require.NoError(t, tree.signal(everything, syscall.SIGCONT))
		<-time.After(7 * time.Millisecond)
	}
}
