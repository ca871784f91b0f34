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
}

// tlsSetting is one of the flags, and the environment variable for it.
type tlsSetting struct {
	flag *option[string]
	name string
	env  string
}

func (f *tlsFlags) settings() []tlsSetting {
	return []tlsSetting{
		{&f.ca, "--tls-ca", envTLSCA},
		{&f.cert, "--tls-cert", envTLSCert},
		{&f.key, "--tls-key", envTLSKey},
		{&f.serverName, "--tls-server-name", envTLSServerName},
	}
}

// register adds the flags.
func (f *tlsFlags) register(fs *flag.FlagSet) {
	fs.BoolFunc("tls", "", f.on.set(strconv.ParseBool))
	for _, s := range f.settings() {
		fs.Func(strings.TrimPrefix(s.name, "--"), "", s.flag.set(parseText))
	}
}

// wanted reports whether connections are to be encrypted: if any setting is given. A
// flag overrides the environment, and --tls=false overrides all of it.
func (f *tlsFlags) wanted(env environ) (bool, error) {
	onByEnv, setByEnv := false, env.get(envTLS)
	if setByEnv != "" {
		var err error
		if onByEnv, err = strconv.ParseBool(setByEnv); err != nil {
			return false, usageErrorf("%s is %q, which is neither true nor false", envTLS, setByEnv)
		}
	}
	flags, variables := "", false
	for _, s := range f.settings() {
		if s.flag.given {
			flags = s.name
			if s.flag.value == "" {
				return false, usageErrorf("%s is empty: give a value, or leave it out", s.name)
			}
		}
		variables = variables || env.get(s.env) != ""
	}
	switch {
	case f.on.given && !f.on.value && flags != "":
		return false, usageErrorf("--tls=false and %s contradict each other", flags)
	case f.on.given:
		return f.on.value, nil
	case flags != "":
		return true, nil
	case setByEnv != "":
		return onByEnv, nil
	}
	return variables, nil
}

// apply makes a client's connections encrypted if the flags and the environment say so.
// It reads the files, so that mistakes show at once; each connection reads them again.
func (f *tlsFlags) apply(cfg *framework.Config, env environ) error {
	wanted, err := f.wanted(env)
	if err != nil || !wanted {
		return err
	}
	values := map[string]string{}
	for _, s := range f.settings() {
		values[s.env] = s.flag.value
		if !s.flag.given {
			values[s.env] = env.get(s.env)
		}
	}
	files := &tlsFiles{ca: values[envTLSCA], cert: values[envTLSCert], key: values[envTLSKey], serverName: values[envTLSServerName]}
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
