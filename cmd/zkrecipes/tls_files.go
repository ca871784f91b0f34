package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
)

// tlsFiles is where the certificates are. They are read again for each connection, so
// that they can be replaced while a command runs.
type tlsFiles struct {
	ca, cert, key string // "" if there is none
	serverName    string // "" for that of each server
}

// get is load for framework.Config.GetTLS.
func (f *tlsFiles) get(context.Context) (*tls.Config, error) { return f.load() }

// load reads the files. Errors name them, and show nothing of what is in them.
func (f *tlsFiles) load() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.serverName}
	if f.ca != "" {
		pool, err := loadPool(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %s: %w", f.ca, err)
		}
		cfg.RootCAs = pool
	}
	if f.cert != "" {
		cert, err := loadPair(f.cert, f.key)
		if err != nil {
			return nil, err
		}
		// Not in cfg.Certificates: of those the one whose issuer the server names is
		// sent, and none if it names others. Then the server would say that there is
		// none, and not what is wrong with ours.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	}
	return cfg, nil
}

// loadPool reads the certificates of authorities. One that cannot be read spoils all: a
// pool that lacks some, because the file is just being written, would pass for one that
// is meant to.
func loadPool(file string) (*x509.CertPool, error) {
	blocks, _, err := readPEM(file, readAnyFile)
	if err != nil {
		return nil, err
	}
	pool, n := x509.NewCertPool(), 0
	for _, block := range blocks {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		pool.AddCert(cert)
		n++
	}
	if n == 0 {
		return nil, errors.New("no certificate is in it")
	}
	return pool, nil
}

// loadPair reads the client's certificate, with those that lead to its authority, and
// its key.
func loadPair(certFile, keyFile string) (*tls.Certificate, error) {
	_, cert, err := readPEM(certFile, readAnyFile)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %s: %w", certFile, err)
	}
	blocks, key, err := readPEM(keyFile, readPrivateFile)
	if err != nil {
		return nil, fmt.Errorf("--tls-key: %s: %w", keyFile, err)
	}
	for _, block := range blocks {
		if block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "" {
			return nil, fmt.Errorf("--tls-key: %s: the key is encrypted, and nobody is there to be asked for its passphrase", keyFile)
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %s and --tls-key: %s: %w", certFile, keyFile, err)
	}
	return &pair, nil
}

// readPEM reads a file and returns its blocks, and all of it. Packages pem, tls and
// x509 pass over what they do not understand; here a file counts only as a whole.
func readPEM(file string, read func(string) ([]byte, error)) ([]*pem.Block, []byte, error) {
	text, err := read(file)
	if err != nil {
		return nil, nil, err
	}
	var blocks []*pem.Block
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		blocks = append(blocks, block)
	}
	begun := bytes.Count(append([]byte("\n"), text...), []byte("\n-----BEGIN "))
	switch {
	case begun == 0:
		return nil, nil, errors.New("not in PEM: no line begins with -----BEGIN")
	case begun != len(blocks):
		return nil, nil, errors.New("damaged, or not written to its end")
	}
	return blocks, text, nil
}

// maxFile is more than the certificates of all authorities of this world take.
const maxFile = 4 << 20

// readAnyFile reads a file that others may see as well.
func readAnyFile(name string) ([]byte, error) { return readFile(name, os.Open) }

// readPrivateFile reads a file that others must not see.
func readPrivateFile(name string) ([]byte, error) { return readFile(name, openPrivate) }

func readFile(name string, open func(string) (*os.File, error)) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, withoutName(err)
	}
	if !info.Mode().IsRegular() { // a pipe would give its content once, and block after that
		return nil, errors.New("not a regular file, which can be read again for each connection")
	}
	file, err := open(name)
	if err != nil {
		return nil, withoutName(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, withoutName(err)
	}
	if len(text) > maxFile {
		return nil, errors.New("too large for certificates")
	}
	return text, nil
}

// reason takes the file's name out of an error that is told with it.
func withoutName(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
