package main

import (
	"fmt"
	"os"
)

// openPrivate opens a file with a secret, or refuses it. Looked at is the opened file:
// its name may have been given to another by now.
func openPrivate(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = checkPrivate(name, info)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// checkPrivate refuses a file with a secret that others than its owner can get at: who
// may write there chooses the secret. Only if the file belongs to root may its group
// read it, and do no more: that is how services are given secrets, as by Debian's
// ssl-cert or Kubernetes' fsGroup.
//
// Only regular files are asked. A pipe, as of "--auth-file <(pass show zk)", keeps
// nothing that could be read again, and its mode says nothing on some systems.
func checkPrivate(name string, info os.FileInfo) error {
	const groupReads, notOwner = 0o040, 0o077
	mode := info.Mode().Perm()
	open := mode & notOwner
	if belongsToRoot(info) {
		open &^= groupReads
	}
	if open == 0 || !info.Mode().IsRegular() || !modesCount {
		return nil
	}
	return fmt.Errorf("it holds a secret and is open to others (mode %04o); close it with: chmod 600 %s", mode, shellWord(name))
}
