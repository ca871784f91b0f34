package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A throwaway is a PostgreSQL in a temporary folder, with a socket there and no port.
type throwaway struct {
	programs string // the folder of its programs
	dir      string
	as       *syscall.SysProcAttr
}

// startThrowaway starts a server, and returns how to connect to it. stop removes all.
func startThrowaway(ctx context.Context) (postgres string, stop func() error, err error) {
	programs, err := findPostgres()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return "", nil, err
	}
	t := &throwaway{programs: programs, dir: dir}
	if err := t.start(ctx); err != nil {
		return "", nil, errors.Join(err, t.stop(ctx))
	}
	return fmt.Sprintf("host='%s' port=5432 user=postgres dbname=postgres", t.dir), func() error { return t.stop(ctx) }, nil
}

// findPostgres returns the folder with the programs of the newest PostgreSQL.
func findPostgres() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl") // of Debian
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		version := func(path string) float64 {
			v, _ := strconv.ParseFloat(strings.Split(path, "/")[4], 64)
			return v
		}
		newest := slices.MaxFunc(found, func(a, b string) int { return int(version(a)*10) - int(version(b)*10) })
		return filepath.Dir(newest), nil
	}
	path, err := exec.LookPath("pg_ctl")
	if err != nil {
		return "", fmt.Errorf("PostgreSQL is not installed; on Debian and Ubuntu .ci/install-postgresql installs it: %w", err)
	}
	return filepath.Dir(path), nil
}

// start makes the files of the server, and waits until it answers.
func (t *throwaway) start(ctx context.Context) error {
	if os.Getuid() == 0 {
		if err := t.dropRoot(); err != nil {
			return err
		}
	}
	// Only this user can open the folder, so nobody else can connect.
	if err := t.run(ctx, "initdb", "--pgdata", t.data(), "--username", "postgres", "--auth", "trust", "--no-sync",
		"--encoding", "UTF8", "--locale", "C"); err != nil {
		return err
	}
	options := fmt.Sprintf("-F -p 5432 -c listen_addresses='' -c unix_socket_directories='%s'", t.dir)
	return t.run(ctx, "pg_ctl", "start", "--wait", "--silent", "--pgdata", t.data(), "--log", filepath.Join(t.dir, "log"), "--options", options)
}

// dropRoot has the server run as another user: PostgreSQL refuses root.
func (t *throwaway) dropRoot() error {
	other, err := user.Lookup("postgres")
	if err != nil {
		other, err = user.Lookup("nobody")
	}
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(other.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(other.Gid, 10, 32)
	if err != nil {
		return err
	}
	t.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return os.Chown(t.dir, int(uid), int(gid))
}

// stop ends the server, if it was started, and removes its files.
func (t *throwaway) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var err error
	if _, missing := os.Stat(filepath.Join(t.data(), "postmaster.pid")); missing == nil {
		err = t.run(ctx, "pg_ctl", "stop", "--wait", "--silent", "--mode", "immediate", "--pgdata", t.data())
	}
	return errors.Join(err, os.RemoveAll(t.dir))
}

func (t *throwaway) data() string { return filepath.Join(t.dir, "data") }

// run runs one of the programs. What it prints is only for its errors: the server has
// the same output, so it goes to a file, not to a pipe that would be waited for.
func (t *throwaway) run(ctx context.Context, program string, args ...string) error {
	output, err := os.CreateTemp(t.dir, program)
	if err != nil {
		return err
	}
	defer output.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(t.programs, program), args...)
	cmd.Dir, cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = t.dir, t.as, output, output
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(output.Name())
		return fmt.Errorf("%s: %w: %s", program, err, text)
	}
	return nil
}
