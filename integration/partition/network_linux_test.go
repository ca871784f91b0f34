package partition

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// A network is a bridge in this process's network namespace, with links to hosts. Each
// host is a namespace too.
type network struct {
	ctx   context.Context
	hosts []host
}

// A host has the name of its namespace, an address, and a link that can be taken down.
type host struct{ name, addr, link string }

// newNetwork makes a network of that many hosts. It ends with the process.
func newNetwork(t *testing.T, hosts int) *network {
	t.Helper()
	n := &network{ctx: t.Context()}
	run := func(line ...string) {
		t.Helper()
		require.NoError(t, command(n.ctx, line...))
	}
	run("ip", "link", "set", "lo", "up")
	run("ip", "link", "add", "bridge0", "type", "bridge")
	run("ip", "addr", "add", "10.9.0.1/24", "dev", "bridge0")
	run("ip", "link", "set", "bridge0", "up")
	for i := range hosts {
		number := strconv.Itoa(i + 1)
		h := host{"host" + number, "10.9.0.1" + number, "link" + number}
		run("ip", "netns", "add", h.name)
		run("ip", "link", "add", h.link, "type", "veth", "peer", "name", "eth0", "netns", h.name)
		run("ip", "link", "set", h.link, "master", "bridge0", "up")
		run("ip", "-n", h.name, "addr", "add", h.addr+"/24", "dev", "eth0")
		run("ip", "-n", h.name, "link", "set", "eth0", "up")
		run("ip", "-n", h.name, "link", "set", "lo", "up")
		n.hosts = append(n.hosts, h)
	}
	return n
}

// on returns the command that runs another command on host i.
func (n *network) on(i int) []string { return []string{"ip", "netns", "exec", n.hosts[i].name} }

// places returns the hosts for an ensemble.
func (n *network) places() (all []ensemble.Host) {
	for i, h := range n.hosts {
		all = append(all, ensemble.Host{Addr: h.addr, Command: n.on(i)})
	}
	return all
}

// cut takes the link of a host down. Processes on it still reach each other.
func (n *network) cut(i int) error {
	return command(n.ctx, "ip", "link", "set", n.hosts[i].link, "down")
}

// filter adds a rule for the packets that come to a host (INPUT) or leave it (OUTPUT).
func (n *network) filter(i int, chain string, rule ...string) error {
	line := append(n.on(i), "iptables", "-w", "-A", chain)
	return command(n.ctx, append(line, rule...)...)
}

// dropIncoming drops all packets to a host from others, dropOutgoing all from it to
// others. Packets within the host pass.
func (n *network) dropIncoming(i int) error { return n.filter(i, "INPUT", "-i", "eth0", "-j", "DROP") }
func (n *network) dropOutgoing(i int) error { return n.filter(i, "OUTPUT", "-o", "eth0", "-j", "DROP") }

// reset drops all packets from and to a host, and answers those of the others to it
// with a TCP reset.
func (n *network) reset(i int) error {
	for j := range n.hosts {
		if j == i {
			continue
		}
		err := n.filter(j, "OUTPUT", "-p", "tcp", "-d", n.hosts[i].addr, "-j", "REJECT", "--reject-with", "tcp-reset")
		if err != nil {
			return err
		}
	}
	if err := n.dropIncoming(i); err != nil {
		return err
	}
	return n.dropOutgoing(i)
}

// dropPort drops all packets from and to a host with one TCP port, its own or
// another's.
func (n *network) dropPort(i, port int) error {
	for _, chain := range []string{"INPUT", "OUTPUT"} {
		for _, end := range []string{"--sport", "--dport"} {
			if err := n.filter(i, chain, "-p", "tcp", end, strconv.Itoa(port), "-j", "DROP"); err != nil {
				return err
			}
		}
	}
	return nil
}

// heal undoes all changes to the hosts.
func (n *network) heal() error {
	for i, h := range n.hosts {
		if err := command(n.ctx, "ip", "link", "set", h.link, "up"); err != nil {
			return err
		}
		if err := command(n.ctx, append(n.on(i), "iptables", "-w", "-F")...); err != nil {
			return err
		}
	}
	return nil
}
