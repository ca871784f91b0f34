package framework

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const defaultPort = "2181"

// addresses returns the servers as host:port in the order given, without repetitions,
// and the chroot ("" for none).
func (cfg Config) addresses() (addrs []string, chroot string, err error) {
	chroot = strings.TrimRight(cfg.Chroot, "/")
	for i, element := range cfg.Servers {
		some, path, err := parseServers(element)
		if err == nil && path != "" && chroot != "" && path != chroot {
			err = invalid("chroot %q contradicts %q", path, chroot)
		}
		if err != nil {
			return nil, "", field(fmt.Sprintf("Servers[%d]", i), err)
		}
		chroot = cmp.Or(chroot, path)
		for _, addr := range some {
			if !slices.Contains(addrs, addr) {
				addrs = append(addrs, addr)
			}
		}
	}
	if len(addrs) == 0 {
		return nil, "", field("Servers", invalid("no server named"))
	}
	if chroot != "" {
		err = field("Chroot", validatePath(chroot, false))
	}
	return addrs, chroot, err
}

// parseServers parses an element of Config.Servers.
func parseServers(element string) (addrs []string, chroot string, err error) {
	if hasCredentials(element) {
		return nil, "", invalid("an address has no credentials (it is not shown)")
	}
	if strings.Contains(element, "://") {
		return nil, "", invalid("%q: an address has no scheme", element)
	}
	hosts, path, rooted := strings.Cut(element, "/")
	if rooted {
		chroot = strings.TrimRight("/"+path, "/")
	}
	for host := range strings.SplitSeq(hosts, ",") {
		addr, err := hostPort(strings.TrimSpace(host))
		if err != nil {
			return nil, "", invalid("%q: %w", host, err)
		}
		addrs = append(addrs, addr)
	}
	return addrs, chroot, nil
}

// hasCredentials reports whether an address has the form user:password@host, with or
// without a scheme before it.
func hasCredentials(element string) bool {
	if _, behind, ok := strings.Cut(element, "://"); ok {
		element = behind
	}
	hosts, _, _ := strings.Cut(element, "/") // a chroot may have that sign
	return strings.Contains(hosts, "@")
}

// hostPort completes a server's address with the default port.
func hostPort(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("empty address")
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		// No port: a name, an IPv4 address, or an IPv6 address with or without
		// brackets.
		bare := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
		if strings.Contains(bare, ":") && net.ParseIP(bare) == nil {
			return "", fmt.Errorf("not host:port")
		}
		host, port = bare, defaultPort
	}
	if host == "" {
		return "", fmt.Errorf("no host")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("port %q is not between 1 and 65535", port)
	}
	addr := net.JoinHostPort(host, port)
	if back, _, err := net.SplitHostPort(addr); err != nil || back != host || strings.ContainsFunc(host, unicode.IsSpace) {
		return "", fmt.Errorf("%q is no host", host)
	}
	return addr, nil
}
