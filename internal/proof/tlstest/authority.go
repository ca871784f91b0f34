package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"
)

// An Authority issues certificates.
type Authority struct {
	tb   testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority returns an authority with a new key and certificate.
func NewAuthority(tb testing.TB, name string) *Authority {
	tb.Helper()
	a := &Authority{tb: tb, key: newKey(tb)}
	template := template(name)
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	a.cert = sign(tb, template, template, a.key, a.key)
	return a
}

// PEM returns the authority's certificate in PEM.
func (a *Authority) PEM() []byte { return encode("CERTIFICATE", a.cert.Raw) }

// Pool returns a pool that trusts this authority and no other.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// An Identity is a certificate and its key.
type Identity struct {
	// Cert and Key are in PEM.
	Cert, Key []byte
}

// Issue returns a certificate for a server of these hosts, which are names or IP
// addresses, and for a client. name is its subject's common name.
func (a *Authority) Issue(name string, hosts ...string) Identity {
	a.tb.Helper()
	template := template(name)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key := newKey(a.tb)
	cert := sign(a.tb, template, a.cert, key, a.key)
	der, err := x509.MarshalPKCS8PrivateKey(key) // the form that Java reads
	if err != nil {
		a.tb.Fatalf("encode key: %v", err)
	}
	return Identity{Cert: encode("CERTIFICATE", cert.Raw), Key: encode("PRIVATE KEY", der)}
}

// Certificate returns the identity as package tls takes it.
func (i Identity) Certificate(tb testing.TB) tls.Certificate {
	tb.Helper()
	cert, err := tls.X509KeyPair(i.Cert, i.Key)
	if err != nil {
		tb.Fatalf("read certificate: %v", err)
	}
	return cert
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatalf("make key: %v", err)
	}
	return key
}

// template is what all certificates have in common.
func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes([]byte(rand.Text())[:16]), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true,
	}
}

func sign(tb testing.TB, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		tb.Fatalf("make certificate: %v", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatalf("read certificate: %v", err)
	}
	return cert
}

func encode(what string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: what, Bytes: der})
}
