package servers

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// Check returns an error that says how to get a kind of server if it is not there. That
// of a missing ZooKeeper comes from Start.
func Check(kind string) error {
	var err error
	switch kind {
	case "etcd":
		_, err = find("etcd", "etcd-server")
	case "redis":
		_, err = find("redis-server", "redis-server")
	case "postgres":
		_, err = postgresPrograms()
	}
	return err
}

// Start starts a "zookeeper", "etcd", "redis" or "postgres" with its data below dir, "" for the
// folder of temporary files.
func Start(ctx context.Context, kind, dir string) (*Server, error) {
	switch kind {
	case "zookeeper":
		return startZooKeeper(ctx, dir)
	case "etcd":
		return startEtcd(dir)
	case "redis":
		return startRedis(dir, func(addr string) error { return answers(addr, "PING\r\n", "+PONG") })
	case "postgres":
		return startPostgres(dir)
	}
	return nil, fmt.Errorf("no server %q", kind)
}

// startZooKeeper lets no container be removed meanwhile: when that happens is not what
// is compared.
func startZooKeeper(ctx context.Context, dir string) (*Server, error) {
	before := children(os.Getpid())
	servers, err := ensemble.Start(ctx, ensemble.Options{
		Backend: ensemble.BackendProcess, FullSpeed: true, DataDir: dir, ReapInterval: 24 * time.Hour,
	})
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: servers.Servers()[0], close: servers.Close}
	for _, pid := range children(os.Getpid()) {
		if !slices.Contains(before, pid) {
			s.pid = pid
		}
	}
	return s, nil
}

func startEtcd(dir string) (*Server, error) {
	program, err := find("etcd", "etcd-server")
	if err != nil {
		return nil, err
	}
	if dir, err = os.MkdirTemp(dir, "zkrecipes-bench-etcd-"); err != nil {
		return nil, err
	}
	client, peer := freePort(), freePort()
	command := exec.Command(program, "--name", "one", "--data-dir", dir+"/data", "--quota-backend-bytes", "4294967296",
		"--listen-client-urls", "http://"+client, "--advertise-client-urls", "http://"+client,
		"--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer,
		"--initial-cluster", "one=http://"+peer, "--log-level", "error")
	return run(command, client, dir, func() error { return answers(client, "GET /health HTTP/1.0\r\n\r\n", `"true"`) })
}

// StartReplica starts a Redis that has what another one has, and returns when it has it.
func StartReplica(addr, dir string) (*Server, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	return startRedis(dir, func(own string) error {
		return answers(own, "INFO replication\r\n", "master_link_status:up")
	}, "--replicaof", host+" "+port)
}

// Promote makes a replica a primary, as Sentinel or an operator does.
func Promote(replica *Server) error { return answers(replica.Addr, "REPLICAOF NO ONE\r\n", "+OK") }

// startRedis makes Redis write to the disk before it answers, as the others do.
func startRedis(dir string, ready func(addr string) error, options ...string) (*Server, error) {
	program, err := find("redis-server", "redis-server")
	if err != nil {
		return nil, err
	}
	if dir, err = os.MkdirTemp(dir, "zkrecipes-bench-redis-"); err != nil {
		return nil, err
	}
	addr := freePort()
	_, port, _ := net.SplitHostPort(addr)
	command := exec.Command(program, append(options, "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0")...)
	return run(command, addr, dir, func() error { return ready(addr) })
}

// freePort returns an address of this host that nothing listens to at the moment.
func freePort() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// answers asks a server something.
func answers(addr, question, want string) error {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte(question)); err != nil {
		return err
	}
	var text strings.Builder
	for buffer := make([]byte, 4096); !strings.Contains(text.String(), want); {
		n, err := conn.Read(buffer)
		text.Write(buffer[:n])
		if err != nil && !strings.Contains(text.String(), want) {
			return fmt.Errorf("answer %q: %w", text.String(), err)
		}
	}
	return nil
}

// children returns the processes that another has started.
func children(parent int) (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, rest, _ := strings.Cut(string(text), ") ") // the name of the program is in brackets
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			all = append(all, pid)
		}
	}
	return all
}
