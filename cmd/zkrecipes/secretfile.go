package main

import (
	"fmt"
	"os"
	"runtime"
)

// othersBits are the permissions that a file with a secret must not give to its
// group or to everybody, as ssh sees it: who may write there chooses the secret.
const othersBits = 0o077

// openSecret opens a file that holds a secret. It refuses one that others can read;
// what is asked is the opened file, so that the name cannot be given to another in
// between.
//
// Only regular files are asked. A pipe, as of "--auth-file <(pass show zk)", keeps
// nothing that could be read again, and its mode says nothing on some systems. On
// Windows modes tell nothing about who may read.
func openSecret(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&othersBits != 0 {
		err = fmt.Errorf("%s is open to others (mode %04o) and holds a secret; close it with: chmod 600 %s",
			name, info.Mode().Perm(), shellWord(name))
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
