//go:build unix

package main

import (
	"os"
	"syscall"
)

const modesCount = true

func belongsToRoot(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}
