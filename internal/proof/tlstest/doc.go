// Package tlstest is for tests of encrypted connections. It makes certificate
// authorities that live as long as a test, and a TLS front for a server without TLS.
package tlstest
