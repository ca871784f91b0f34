package framework

import (
	"bytes"
	"log/slog"
)

// A Credential is presented to the server in every session. Secret never appears in
// errors or logs.
type Credential struct {
	// Scheme is the authentication scheme, such as "digest".
	Scheme string
	// Secret is what the scheme wants; for digest, "user:password".
	Secret []byte
}

// String returns the scheme alone.
func (c Credential) String() string { return c.Scheme + ":[redacted]" }

// LogValue returns the scheme alone.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns the scheme alone.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// GoString returns the scheme alone.
func (c Credential) GoString() string { return c.String() }

// DigestAuth returns the credential of the digest scheme for a user.
func DigestAuth(user, password string) Credential {
	return Credential{Scheme: "digest", Secret: []byte(user + ":" + password)}
}

// validate returns the field that makes no sense, and why.
func (c Credential) validate() (field string, err error) {
	switch {
	case c.Scheme == "":
		return "Scheme", invalid("empty")
	case len(c.Secret) == 0:
		return "Secret", invalid("empty")
	case c.Scheme == "digest" && !bytes.Contains(c.Secret, []byte(":")): // the server would take it for the name of a user, which is public
		return "Secret", invalid("a digest secret is a user and a password with a colon between")
	case c.Scheme == "digest" && bytes.IndexByte(c.Secret, ':') == len(c.Secret)-1: // a variable that was not set, as a rule
		return "Secret", invalid("the password is empty")
	}
	return "", nil
}
