package partition

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// A network is a bridge in this process's network namespace, to which hosts are linked.
// Each host is a namespace too.
type network struct {
	ctx   context.Context
	hosts []host
}

// A host has the name of its namespace, an address, and a link that can be taken down.
type host struct{ name, addr, link string }

// newNetwork makes a network of that many hosts, which ends with the process.
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

// on is the beginning of a command that runs another one on host i.
func (n *network) on(i int) []string { return []string{"ip", "netns", "exec", n.hosts[i].name} }

// places are the hosts as an ensemble takes them.
func (n *network) places() (all []ensemble.Host) {
	for i, h := range n.hosts {
		all = append(all, ensemble.Host{Addr: h.addr, Command: n.on(i)})
	}
	return all
}

// cut takes the link of a host down. What runs on it still reaches itself.
func (n *network) cut(i int) error {
	return command(n.ctx, "ip", "link", "set", n.hosts[i].link, "down")
}

// filter adds a rule for the packets that come to a host (INPUT) or leave it (OUTPUT).
func (n *network) filter(i int, chain string, rule ...string) error {
	line := append(n.on(i), "iptables", "-w", "-A", chain)
	return command(n.ctx, append(line, rule...)...)
}

// deafen lets a host hear no other any more, muffle lets no other hear it. What it says
// to itself passes.
func (n *network) deafen(i int) error { return n.filter(i, "INPUT", "-i", "eth0", "-j", "DROP") }
func (n *network) muffle(i int) error { return n.filter(i, "OUTPUT", "-o", "eth0", "-j", "DROP") }

// reset lets a host hear and say nothing, while the others, when they talk to it, hear
// that it has closed the connection.
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
	if err := n.deafen(i); err != nil {
		return err
	}
	return n.muffle(i)
}

// hush drops what a host says and hears by one TCP port, its own or another's.
func (n *network) hush(i, port int) error {
	for _, chain := range []string{"INPUT", "OUTPUT"} {
		for _, end := range []string{"--sport", "--dport"} {
			if err := n.filter(i, chain, "-p", "tcp", end, strconv.Itoa(port), "-j", "DROP"); err != nil {
				return err
			}
		}
	}
	return nil
}

// heal undoes all that was done to the hosts.
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
