package main

import (
	"fmt"
	"os"
)

// openPrivate opens a file with a secret, or refuses it. It checks the opened file,
// because another file may have its name by now.
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

// checkPrivate refuses a file with a secret that users other than its owner can read or
// write: a writer chooses the secret. Only the group of a file that belongs to root may
// read it: so services get secrets, as by Debian's ssl-cert or Kubernetes' fsGroup.
//
// It checks regular files only. A pipe, as of "--auth-file <(pass show zk)", cannot be
// read again, and on some systems its mode means nothing.
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
	return fmt.Errorf("it contains a secret and is open to other users (mode %04o); close it with: chmod 600 %s", mode, shellWord(name))
}
