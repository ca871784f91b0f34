package framework

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
)

const defaultPort = "2181"

// addresses returns the servers as host:port in the order given, without
// repetitions, and the chroot ("" for none).
func (cfg Config) addresses() (addrs []string, chroot string, err error) {
	chroot = strings.TrimRight(cfg.Chroot, "/")
	seen := map[string]bool{}
	for i, element := range cfg.Servers {
		if hasCredentials(element) {
			return nil, "", fmt.Errorf("config.Servers[%d]: %w: an address has no credentials (it is not shown); Config.Auth is for those", i, ErrInvalidArgument)
		}
		if strings.Contains(element, "://") {
			return nil, "", fmt.Errorf("config.Servers[%d]: %w: %q: an address has no scheme; Config.TLS is for encryption", i, ErrInvalidArgument, element)
		}
		hosts := element
		if slash := strings.IndexByte(element, '/'); slash >= 0 {
			path := strings.TrimRight(element[slash:], "/")
			hosts = element[:slash]
			if path != "" && chroot != "" && path != chroot {
				return nil, "", fmt.Errorf("config.Servers[%d]: %w: chroot %q contradicts %q", i, ErrInvalidArgument, path, chroot)
			}
			if path != "" {
				chroot = path
			}
		}
		for host := range strings.SplitSeq(hosts, ",") {
			addr, err := hostPort(strings.TrimSpace(host))
			if err != nil {
				return nil, "", fmt.Errorf("config.Servers[%d]: %w: %q: %w", i, ErrInvalidArgument, host, err)
			}
			if !seen[addr] {
				seen[addr] = true
				addrs = append(addrs, addr)
			}
		}
	}
	if len(addrs) == 0 {
		return nil, "", fmt.Errorf("config.Servers: %w: no server named", ErrInvalidArgument)
	}
	if chroot != "" {
		if err := validatePath(chroot, false); err != nil {
			return nil, "", fmt.Errorf("config.Chroot: %w", err)
		}
	}
	return addrs, chroot, nil
}

// hasCredentials tells whether an address has the form user:password@host, with or
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
		// No port: a name, an IPv4 address, or an IPv6 address with or without brackets.
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
