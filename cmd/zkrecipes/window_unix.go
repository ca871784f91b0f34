//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"os"
	"syscall"
	"unsafe"
)

// windowOf returns the columns and rows of a terminal, and whether a file is one.
func windowOf(file *os.File) (columns, rows int, terminal bool) {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	var size struct{ rows, columns, width, height uint16 }
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	})
	return int(size.columns), int(size.rows), err == nil && failed == 0
}
