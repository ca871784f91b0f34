// Package tlstest has what tests of encrypted connections need: certificate authorities
// that live as long as a test, and a server that decrypts for another one.
package tlstest
