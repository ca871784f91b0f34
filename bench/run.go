package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/bench/contend"
	"github.com/zkrecipes/zkrecipes/bench/proxy"
	"github.com/zkrecipes/zkrecipes/bench/servers"
)

// options are those of the command line.
type options struct {
	rounds               int
	slice, warmUp, limit time.Duration
	dir                  string        // of the servers
	memory               bool          // measure that as well
	dwell                time.Duration // how long holders hold
	before               string        // a build of this program from an earlier commit
}

// A run has servers, proxies and processes, and keeps them until it ends.
type run struct {
	options
	own     string // its folder
	slots   *contend.Slots
	classes string // the class path of Curator's program
	servers map[string]*servers.Server
	proxies map[route]*proxy.Proxy
	crews   map[berth][]*child
}

// A route is a way to a kind of server: the server itself, or a proxy that counts
// requests or delays them.
type route struct {
	server string
	count  bool
	delay  time.Duration
}

// A berth is what processes have in common that can take each other's place.
type berth struct {
	system  string
	via     route
	session time.Duration
}

func newRun(o options) (*run, error) {
	own, err := os.MkdirTemp("", "zkrecipes-bench-")
	if err != nil {
		return nil, err
	}
	slots, err := contend.OpenSlots(filepath.Join(own, "slots"))
	if err != nil {
		return nil, err
	}
	return &run{
		options: o, own: own, slots: slots,
		servers: map[string]*servers.Server{}, proxies: map[route]*proxy.Proxy{}, crews: map[berth][]*child{},
	}, nil
}

func (r *run) close() {
	var group sync.WaitGroup
	for _, crew := range r.crews {
		for _, c := range crew {
			group.Go(c.stop)
		}
	}
	group.Wait()
	for _, p := range r.proxies {
		p.Close()
	}
	for kind, s := range r.servers {
		if err := s.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "stop %s: %v\n", kind, err)
		}
	}
	_ = os.RemoveAll(r.own)
}

// installed returns an error with all that is missing for some systems.
func installed(some []system) error {
	var missing []error
	for _, s := range some {
		missing = append(missing, servers.Check(s.server))
		if strings.HasPrefix(s.name, "curator") {
			_, err := curatorPath()
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// serve starts the servers of some systems.
func (r *run) serve(ctx context.Context, some []system) error {
	for _, s := range some {
		if r.servers[s.server] != nil {
			continue
		}
		fmt.Fprintln(os.Stderr, "start", s.server)
		server, err := servers.Start(ctx, s.server, r.dir)
		if err != nil {
			return err
		}
		r.servers[s.server] = server
	}
	return nil
}

func (r *run) addr(via route) (string, error) {
	server := r.servers[via.server].Addr
	if !via.count && via.delay == 0 {
		return server, nil
	}
	if r.proxies[via] == nil {
		p, err := proxy.Start(server, via.delay)
		if err != nil {
			return "", err
		}
		r.proxies[via] = p
	}
	return r.proxies[via].Addr(), nil
}

// crew returns processes of a berth. New ones do not know their paths yet: warm them
// up.
func (r *run) crew(ctx context.Context, at berth, n int) ([]*child, error) {
	for len(r.crews[at]) < n {
		command, err := r.command(ctx, at)
		if err != nil {
			return nil, err
		}
		c, err := startChild(ctx, command)
		if err != nil {
			return nil, err
		}
		r.crews[at] = append(r.crews[at], c)
	}
	return r.crews[at][:n], nil
}

// dismiss ends the processes of a berth.
func (r *run) dismiss(at berth) {
	for _, c := range r.crews[at] {
		c.stop()
	}
	delete(r.crews, at)
}

// command is the command line of a process. It dies with this one, and no context ends
// it.
func (r *run) command(ctx context.Context, at berth) (*exec.Cmd, error) {
	addr, err := r.addr(at.via)
	if err != nil {
		return nil, err
	}
	return r.program(ctx, at.system, addr, at.session)
}

// program is the command line of a process whose server has some address.
func (r *run) program(ctx context.Context, system, addr string, session time.Duration) (_ *exec.Cmd, err error) {
	slots := filepath.Join(r.own, "slots")
	if strings.HasPrefix(system, "curator") {
		if r.classes == "" {
			if r.classes, err = compile(ctx, r.own); err != nil {
				return nil, err
			}
		}
		return exec.Command("java", "-Xmx2g", "-Xss512k", "-XX:+UseParallelGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
			"-cp", r.classes, "Contender", addr, fmt.Sprint(session.Milliseconds()), slots, system), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if system == "before" {
		self, system = r.before, "ours"
	}
	return exec.Command(self, "contend", "-system", system, "-server", addr, "-session", session.String(), "-slots", slots), nil
}
