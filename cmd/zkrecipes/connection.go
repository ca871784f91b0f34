package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// connection is what the flags say about how to reach ZooKeeper.
type connection struct {
	servers        string
	sessionTimeout time.Duration
	authFile       option[string]
	timeout        option[time.Duration]
	tls            tlsFlags
}

// register adds the flags that all verbs share which ask ZooKeeper.
func (c *connection) register(fs *flag.FlagSet) {
	c.registerReach(fs)
	fs.Func("timeout", "", c.timeout.set(parseDuration))
}

// registerReach adds the flags that say how ZooKeeper is reached.
func (c *connection) registerReach(fs *flag.FlagSet) {
	registerConfig(fs)
	fs.StringVar(&c.servers, "servers", "", "")
	fs.Func("auth-file", "", c.authFile.set(parseText))
	c.sessionTimeout = framework.DefaultSessionTimeout
	fs.Func("session-timeout", "", func(text string) (err error) {
		c.sessionTimeout, err = parseDuration(text)
		return err
	})
	c.tls.register(fs)
}

// addresses returns the connection string without its chroot, and the chroot.
func (c *connection) addresses() (hosts, chroot string, err error) {
	servers := c.servers
	if servers == "" {
		return "", "", usageErrorf("no servers: give --servers HOST:PORT[,HOST:PORT...][/CHROOT] or set %s", envServers)
	}
	if strings.Contains(servers, "://") {
		return "", "", usageErrorf("--servers: an address has no scheme: write HOST:PORT")
	}
	hosts, chroot = servers, ""
	if slash := strings.IndexByte(servers, '/'); slash >= 0 {
		hosts, chroot = servers[:slash], strings.TrimSuffix(servers[slash:], "/")
	}
	if strings.Contains(hosts, "@") {
		return "", "", usageErrorf("--servers: an address has no credentials (it is not shown): %s is for those", envAuth)
	}
	return hosts, chroot, nil
}

// credentials returns those of variables and of the file of --auth-file. Errors do not
// show them.
func (c *connection) credentials(ofVariables []framework.Credential) ([]framework.Credential, error) {
	switch {
	case !c.authFile.given:
		return ofVariables, nil
	case c.authFile.value == "": // perhaps an unset "$FILE", not a wish for no credentials
		return nil, usageErrorf("--auth-file is empty: give the name of a file, or leave it out")
	}
	inFile, err := readCredentials(c.authFile.value)
	return slices.Concat(ofVariables, inFile), err
}

// readCredentials returns those in a file. A file without any is an error: its caller
// does not want an open lock.
func readCredentials(name string) (all []framework.Credential, err error) {
	file, err := openPrivate(name)
	if err != nil {
		return nil, usageErrorf("--auth-file: %s: %v", name, withoutName(err))
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cred, ok := parseCredential(line)
		if !ok {
			return nil, usageErrorf("--auth-file: line %d of %s is not SCHEME:SECRET, such as digest:user:password (it is not shown)", n, name)
		}
		all = append(all, cred)
	}
	if err := lines.Err(); err != nil {
		return nil, usageErrorf("--auth-file: %s: %v", name, err)
	}
	if len(all) == 0 {
		return nil, usageErrorf("--auth-file: %s: it contains no credentials", name)
	}
	return all, nil
}

// parseCredential splits "scheme:secret".
func parseCredential(text string) (framework.Credential, bool) {
	scheme, secret, _ := strings.Cut(text, ":")
	return framework.Credential{Scheme: scheme, Secret: []byte(secret)}, scheme != "" && secret != ""
}

// config returns the client's configuration, with the credentials of variables; the
// chroot is left to the caller.
func (c *connection) config(auth []framework.Credential) (cfg framework.Config, chroot string, err error) {
	if c.timeout.given && c.timeout.value == 0 {
		return cfg, "", usageErrorf("--timeout 0 leaves no time to ask a server")
	}
	hosts, chroot, err := c.addresses()
	if err != nil {
		return cfg, "", err
	}
	auth, err = c.credentials(auth)
	if err != nil {
		return cfg, "", err
	}
	cfg = framework.Config{
		Servers: []string{hosts}, SessionTimeout: c.sessionTimeout, Auth: auth,
		Logger: slog.New(slog.DiscardHandler), // what matters to the user is reported as events
	}
	if err := c.tls.apply(&cfg); err != nil {
		return cfg, "", err
	}
	if err := cfg.Validate(); err != nil {
		return cfg, "", configMistake(err)
	}
	return cfg, chroot, nil
}

// configMistake names the flag or variable that a Config makes no sense for.
func configMistake(err error) error {
	var wrong *framework.ConfigError
	if !errors.As(err, &wrong) {
		return usageErrorf("%v", err)
	}
	switch field, _, _ := strings.Cut(wrong.Field, "["); field { // as in "Auth[0]"
	case "SessionTimeout":
		return usageErrorf("--session-timeout: %v", wrong.Err)
	case "Servers", "Chroot":
		return usageErrorf("--servers: %v", wrong.Err)
	case "Auth":
		return usageErrorf("credentials of %s or --auth-file: %v", envAuth, wrong.Err)
	}
	return usageErrorf("%v", err)
}

// errorText returns the text of an error, and what may help.
func errorText(err error) string {
	hint := ""
	switch {
	case attemptsFailed(err, framework.ErrTLSMismatch):
		hint = " (see --tls)"
	case attemptsFailed(err, framework.ErrCertificateRefused):
		hint = " (see --tls-cert)"
	case errors.Is(err, semaphore.ErrSizeMismatch):
		hint = ": the stored number is removed when the path has been unused for about a minute; \"zkrecipes resize\" changes it, and --permits stored:N adopts it"
	case errors.Is(err, semaphore.ErrNoSize):
		hint = ": --permits stored:N stores N then"
	case errors.Is(err, striped.ErrSizeMismatch):
		hint = ": the stored number is removed when the path has been unused for about a minute; \"zkrecipes resize\" changes it"
	}
	return err.Error() + hint
}

// attemptsFailed reports whether a client got no session and an attempt to connect to
// one of the servers failed with target.
func attemptsFailed(err, target error) bool {
	var failed *framework.ConnectError
	return errors.As(err, &failed) && slices.ContainsFunc(failed.Attempts, func(a framework.ConnectAttempt) bool {
		return errors.Is(a.Err, target)
	})
}

// connect waits for a session, but not longer than limit.
func connect(ctx context.Context, cfg framework.Config, limit time.Duration) (*framework.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, unanswered("no session within %v", limit))
	defer cancel()
	shareConnectTime(&cfg, limit)
	return framework.Connect(ctx, cfg)
}
