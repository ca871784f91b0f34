package ensemble

import "syscall"

// dieWithParent lets the system kill a child when this program ends in any way.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
