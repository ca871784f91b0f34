package main

import (
	"flag"
	"net"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
)

// tlsFlags are what the command line says about encrypted connections.
type tlsFlags struct {
	on                        option[bool]
	ca, cert, key, serverName option[string]
	all                       *flag.FlagSet
}

// tlsSetting is one of the flags that imply --tls.
type tlsSetting struct {
	flag *option[string]
	name string
}

func (f *tlsFlags) settings() []tlsSetting {
	return []tlsSetting{{&f.ca, "tls-ca"}, {&f.cert, "tls-cert"}, {&f.key, "tls-key"}, {&f.serverName, "tls-server-name"}}
}

// register adds the flags.
func (f *tlsFlags) register(fs *flag.FlagSet) {
	f.all = fs
	fs.BoolFunc("tls", "", f.on.set(strconv.ParseBool))
	for _, s := range f.settings() {
		fs.Func(s.name, "", s.flag.set(parseText))
	}
}

// wanted reports whether connections are to be encrypted: if any flag is given. But
// --tls=false switches off all that is not given on a stronger level.
func (f *tlsFlags) wanted() (bool, error) {
	strongest, name := nowhere, ""
	for _, s := range f.settings() {
		if !s.flag.given {
			continue
		}
		if s.flag.value == "" {
			return false, usageErrorf("--%s is empty: give a value, or leave it out", s.name)
		}
		if level := settingOf(f.all, s.name).level; level > strongest {
			strongest, name = level, s.name
		}
	}
	if !f.on.given || f.on.value {
		return f.on.given || strongest > nowhere, nil
	}
	level := settingOf(f.all, "tls").level
	if level == onCommandLine && strongest == onCommandLine {
		return false, usageErrorf("--tls=false and --%s contradict each other", name)
	}
	return strongest > level, nil
}

// apply makes a client's connections encrypted if the flags say so. It reads the files,
// so that mistakes show at once; each connection reads them again.
func (f *tlsFlags) apply(cfg *framework.Config) error {
	wanted, err := f.wanted()
	if err != nil || !wanted {
		return err
	}
	files := &tlsFiles{ca: f.ca.value, cert: f.cert.value, key: f.key.value, serverName: f.serverName.value}
	switch {
	case files.cert != "" && files.key == "":
		return usageErrorf("--tls-cert without --tls-key: give the file of the certificate's key")
	case files.key != "" && files.cert == "":
		return usageErrorf("--tls-key without --tls-cert: give the file of the key's certificate")
	case !isHost(files.serverName):
		return usageErrorf("--tls-server-name: %q is not a host's name without a port", files.serverName)
	}
	if _, err := files.load(); err != nil {
		return usageErrorf("%v", err)
	}
	cfg.GetTLS = files.get
	return nil
}

// isHost reports whether a certificate can be for that name; "" stands for the name in
// --servers.
func isHost(name string) bool {
	return net.ParseIP(name) != nil || !strings.ContainsAny(name, ":/@ ")
}

// certificateRefused reports whether a client got no session and one of the servers
// refused its certificate. Other servers may be down, but to wait for them would not
// help.
func certificateRefused(err error) bool {
	return attemptsFailed(err, framework.ErrCertificateRefused)
}
