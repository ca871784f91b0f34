package framework

import (
	"crypto/tls"
	"testing"
)

// What the owner of a TLS configuration does to it later must not touch later
// connections.
func TestTLSConfigIsCopied(t *testing.T) {
	t.Parallel()
	cfg := Config{Servers: []string{"a"}, TLS: &tls.Config{ServerName: "a"}}
	kept := cfg.withDefaults()
	cfg.TLS.ServerName, cfg.TLS.InsecureSkipVerify = "b", true
	if kept.TLS.ServerName != "a" || kept.TLS.InsecureSkipVerify {
		t.Errorf("changed with the original: %+v", kept.TLS)
	}
	if (Config{}).withDefaults().TLS != nil {
		t.Error("no TLS has become some")
	}
}
