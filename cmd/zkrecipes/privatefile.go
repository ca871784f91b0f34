package main

import (
	"fmt"
	"os"
	"runtime"
)

// checkPrivate refuses a file with a secret that everybody on the machine can read, or
// that others than its owner can change. A group may read it: that is how services are
// given keys that belong to root.
func checkPrivate(info os.FileInfo) error {
	const group, others = 0o020, 0o007 // what they must not have
	if runtime.GOOS == "windows" {     // which has other ways to say so
		return nil
	}
	if mode := info.Mode().Perm(); mode&(group|others) != 0 {
		return fmt.Errorf("its permissions are %#o: others than its owner can get at it; say chmod 600", mode)
	}
	return nil
}
