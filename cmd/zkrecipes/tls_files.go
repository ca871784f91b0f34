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

// tlsFiles names the files of the certificates. Each connection reads them again, so
// that they can be replaced while a command runs.
type tlsFiles struct {
	ca, cert, key string // "" if there is none
	serverName    string // "" for that of each server
}

// get is load, for framework.Config.GetTLS.
func (f *tlsFiles) get(context.Context) (*tls.Config, error) { return f.load() }

// load reads the files. Errors name them, and show nothing of their content.
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
		// Not in cfg.Certificates: of those, only one whose issuer the server names is
		// sent. Otherwise the server would report that there is none, not what is wrong
		// with ours.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	}
	return cfg, nil
}

// loadPool reads the certificates of authorities. If one cannot be read, all are
// refused: a pool without some, because the file is just being written, would look
// complete.
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
		return nil, errors.New("it contains no certificate")
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
			return nil, fmt.Errorf("--tls-key: %s: the key is encrypted, and zkrecipes cannot ask for its passphrase", keyFile)
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %s and --tls-key: %s: %w", certFile, keyFile, err)
	}
	return &pair, nil
}

// readPEM reads a file and returns its blocks, and its text. Packages pem, tls and x509
// skip what they do not understand; here a file is read whole or refused.
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
		return nil, nil, errors.New("damaged or incomplete")
	}
	return blocks, text, nil
}

// maxFile is more than the certificates of all public authorities take.
const maxFile = 4 << 20

// readAnyFile reads a file that other users may read.
func readAnyFile(name string) ([]byte, error) { return readFile(name, os.Open) }

// readPrivateFile reads a file that other users must not read.
func readPrivateFile(name string) ([]byte, error) { return readFile(name, openPrivate) }

func readFile(name string, open func(string) (*os.File, error)) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, withoutName(err)
	}
	if !info.Mode().IsRegular() { // a pipe gives its content only once, and then blocks
		return nil, errors.New("not a regular file, and each connection must read it again")
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

// withoutName removes the file's name from an error whose message already has it.
func withoutName(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
