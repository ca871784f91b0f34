package zktest

import (
	"crypto/sha1"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// Permissions in an ACL.
const (
	permRead   int32 = 1
	permWrite  int32 = 2
	permCreate int32 = 4
	permDelete int32 = 8
	permAdmin  int32 = 16
	permAll    int32 = 31
)

var anyone = jute.ID{Scheme: "world", ID: "anyone"}

// allowed reports whether one of the identities has one of the permissions in perm. A
// node without an ACL is open.
func allowed(acl []jute.ACL, perm int32, ids []jute.ID) bool {
	if len(acl) == 0 {
		return true
	}
	for _, a := range acl {
		if a.Perms&perm == 0 {
			continue
		}
		if a.ID == anyone {
			return true
		}
		for _, id := range ids {
			if id.Scheme != a.Scheme {
				continue
			}
			if id.Scheme == "ip" && matchAddress(id.ID, a.ID.ID) || id.Scheme == "digest" && id == a.ID {
				return true
			}
		}
	}
	return false
}

// expandACL checks the ACL of a request and returns the ACL to store: without
// duplicates, and with the scheme "auth" replaced by the client's proved identities.
func expandACL(acl []jute.ACL, ids []jute.ID) ([]jute.ACL, error) {
	var unique, out []jute.ACL
	for _, a := range acl {
		if !slices.Contains(unique, a) {
			unique = append(unique, a)
		}
	}
	if len(unique) == 0 {
		return nil, InvalidACL
	}
	for _, a := range unique {
		switch {
		case a.ID == anyone:
			out = append(out, a)
		case a.Scheme == "auth":
			before := len(out)
			for _, id := range ids {
				if id.Scheme == "digest" { // an address proves nothing
					out = append(out, jute.ACL{Perms: a.Perms, ID: id})
				}
			}
			if len(out) == before {
				return nil, InvalidACL
			}
		case a.Scheme == "digest" && validDigest(a.ID.ID), a.Scheme == "ip" && validAddress(a.ID.ID):
			out = append(out, a)
		default:
			return nil, InvalidACL
		}
	}
	return out, nil
}

// digest returns the identity that a "user:password" proves.
func digest(credentials string) string {
	user, _, _ := strings.Cut(credentials, ":")
	sum := sha1.Sum([]byte(credentials))
	return user + ":" + base64.StdEncoding.EncodeToString(sum[:])
}

// validDigest reports whether an identity has the form user:hash. As in ZooKeeper,
// trailing colons do not count.
func validDigest(id string) bool {
	return strings.Count(strings.TrimRight(id, ":"), ":") == 1
}

// parseAddress reads "a.b.c.d" or "a.b.c.d/bits".
func parseAddress(s string) (addr [4]byte, bits int, ok bool) {
	host, width, cut := strings.Cut(s, "/")
	bits = 32
	if cut {
		n, err := strconv.Atoi(width)
		if err != nil || n < 0 || n > 32 {
			return addr, 0, false
		}
		bits = n
	}
	parts := strings.Split(host, ".")
	if len(parts) != len(addr) {
		return addr, 0, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 255 {
			return addr, 0, false
		}
		addr[i] = byte(n)
	}
	return addr, bits, true
}

func validAddress(s string) bool {
	_, _, ok := parseAddress(s)
	return ok
}

// matchAddress reports whether a client's address lies in the network of an ACL.
func matchAddress(client, network string) bool {
	want, bits, ok := parseAddress(network)
	have, _, known := parseAddress(client)
	if !ok || !known {
		return false
	}
	for i := range want {
		mask := byte(0)
		if n := bits - 8*i; n >= 8 {
			mask = 0xff
		} else if n > 0 {
			mask = ^byte(0xff >> n)
		}
		if want[i]&mask != have[i]&mask {
			return false
		}
	}
	return true
}

// maskedACL hides the hashes of digest identities from clients that may read an ACL but
// not set it.
func maskedACL(acl []jute.ACL) []jute.ACL {
	out := slices.Clone(acl)
	for i, a := range out {
		if user, _, found := strings.Cut(a.ID.ID, ":"); found && a.Scheme == "digest" {
			out[i].ID.ID = user + ":x"
		}
	}
	return out
}

// initialAuth is the identity that a connection has by its address.
func initialAuth(host string) []jute.ID { return []jute.ID{{Scheme: "ip", ID: host}} }
