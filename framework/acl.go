package framework

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// Permissions of an ACL entry; combine them with |.
const (
	PermRead   = 1 << iota // read data and list children
	PermWrite              // set data
	PermCreate             // create children
	PermDelete             // delete children
	PermAdmin              // set the ACL
	PermAll    = PermRead | PermWrite | PermCreate | PermDelete | PermAdmin
)

// An ACL is one entry of a node's access control list.
type ACL struct {
	// Perms is the sum of the permissions granted.
	Perms int32
	// Scheme and ID say to whom, for example "digest" and "user:hash".
	Scheme, ID string
}

// WorldACL grants permissions to all clients.
func WorldACL(perms int32) []ACL { return []ACL{{Perms: perms, Scheme: "world", ID: "anyone"}} }

// CreatorACL grants permissions to the identities that the creating session has proved,
// as with Config.Auth.
func CreatorACL(perms int32) []ACL { return []ACL{{Perms: perms, Scheme: "auth", ID: ""}} }

// DigestACL grants permissions to a user of the digest scheme.
func DigestACL(perms int32, user, password string) []ACL {
	sum := sha1.Sum([]byte(user + ":" + password))
	return []ACL{{Perms: perms, Scheme: "digest", ID: user + ":" + base64.StdEncoding.EncodeToString(sum[:])}}
}

// schemes are the ACL schemes that a server with default settings knows.
var schemes = map[string]bool{"world": true, "auth": true, "digest": true, "ip": true, "x509": true, "sasl": true, "host": true, "super": true}

func validateACL(acl []ACL) error {
	if len(acl) == 0 {
		return fmt.Errorf("%w: empty", ErrInvalidACL)
	}
	for i, a := range acl {
		if !schemes[a.Scheme] {
			return fmt.Errorf("%w: entry %d: unknown scheme %q", ErrInvalidACL, i, a.Scheme)
		}
		if a.Perms&^int32(PermAll) != 0 || a.Perms == 0 {
			return fmt.Errorf("%w: entry %d: permissions %#x", ErrInvalidACL, i, a.Perms)
		}
		if a.Scheme == "digest" && !strings.Contains(a.ID, ":") {
			return fmt.Errorf("%w: entry %d: a digest id is user:hash", ErrInvalidACL, i)
		}
	}
	return nil
}

// GetACL returns a node's ACL and Stat.
func (c *Client) GetACL(ctx context.Context, path string) ([]ACL, Stat, error) {
	return aclReading.plain(ctx, c, path)
}

// SetACL replaces a node's ACL if its ACL version is aversion, or any if that is
// AnyVersion, and returns the new Stat.
func (c *Client) SetACL(ctx context.Context, path string, acl []ACL, aversion int32) (Stat, error) {
	if err := validateACL(acl); err != nil {
		return Stat{}, &OpError{Op: "setACL", Path: path, Outcome: Failed, Err: err}
	}
	return c.change(ctx, "setACL", path, func(path string) (int32, []byte) {
		e := record(path, 8+64*len(acl))
		encodeACL(e, acl)
		e.Int32(aversion)
		return guard.OpSetACL, e.Bytes()
	})
}
