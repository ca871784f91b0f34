//go:build !linux

package ensemble

import "syscall"

// dieWithParent would need a helper process here: a test binary that is killed leaves
// its servers behind.
func dieWithParent() *syscall.SysProcAttr { return nil }

// awaitStopped would need a call that package syscall does not have everywhere.
func awaitStopped(int) error { return nil }
