package servers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// Connections is how many a PostgreSQL allows here. Each lock has one of its own.
const Connections = 200

// postgresPrograms returns the folder with the programs of PostgreSQL.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // of Debian
	if err == nil && len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := find("initdb", "postgresql")
	return filepath.Dir(path), err
}

// startPostgres changes nothing of what initdb sets, but for the number of connections.
func startPostgres(dir string) (*Server, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	if dir, err = os.MkdirTemp(dir, "zkrecipes-bench-postgres-"); err != nil {
		return nil, err
	}
	as, err := notRoot(dir)
	if err != nil {
		return nil, err
	}
	data := dir + "/data"
	init := exec.Command(programs+"/initdb", "--pgdata", data, "--username", "postgres", "--auth", "trust",
		"--encoding", "UTF8", "--locale", "C", "--no-sync")
	init.Dir, init.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
	if text, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, text)
	}
	addr := freePort()
	host, port, _ := net.SplitHostPort(addr)
	command := exec.Command(programs+"/postgres", "-D", data, "-p", port, "-c", "listen_addresses="+host,
		"-c", "unix_socket_directories=", "-c", "max_connections="+strconv.Itoa(Connections))
	// At once, and unlike SIGKILL with its shared memory removed.
	command.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
	s, err := run(command, addr, dir, func() error {
		return exec.Command(programs+"/pg_isready", "--quiet", "-h", host, "-p", port).Run()
	})
	if err != nil {
		return nil, err
	}
	s.family = true
	return s, nil
}

// notRoot has a server run as another user, who gets the folder: PostgreSQL refuses
// root.
func notRoot(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // it stays who it is
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		other, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(other.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(other.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
}
