package ensemble

import (
	"fmt"
	"syscall"
)

// dieWithParent lets the system kill a child when this program ends in any way.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// awaitStopped waits until a child that was sent a SIGSTOP has stopped: on a busy
// machine its threads go on for a moment. It leaves the status to others.
func awaitStopped(pid int) error {
	const ofOne, stopped, leave = 1, syscall.WUNTRACED, 0x1000000 // P_PID, WSTOPPED, WNOWAIT
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, ofOne, uintptr(pid), 0, stopped|leave, 0, 0)
		switch err {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return fmt.Errorf("wait for the stop of %d: %w", pid, err)
		}
	}
}
