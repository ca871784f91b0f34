package framework

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// String returns the entry as zkCli.sh writes it, such as "world:anyone:cdrwa", but of
// a digest only the user. What is not printable is escaped.
func (a ACL) String() string {
	id := a.ID
	if a.Scheme == "digest" {
		id, _, _ = strings.Cut(id, ":")
	}
	return quote.Brief(a.Scheme) + ":" + quote.Brief(id) + ":" + letters(a.Perms)
}

// letters writes permissions as zkCli.sh does.
func letters(perms int32) string {
	text := ""
	for i, perm := range []int32{PermCreate, PermDelete, PermRead, PermWrite, PermAdmin} {
		if perms&perm != 0 {
			text += "cdrwa"[i : i+1]
		}
	}
	return text
}

// Strangers reads the ACL of a node and returns the entries that permit any of perms to
// somebody who has proved nothing: to anyone, or to whoever comes from some address.
// Identities that are in the list by name, of whatever scheme, are there on purpose.
// Errors: ErrNoNode, ErrNoAuth.
//
// WarnOfStrangers is silent about a node that was asked about in the same session.
func (c *Client) Strangers(ctx context.Context, node string, perms int32) ([]ACL, error) {
	if s := c.Session(); s != nil {
		s.looked.first(c.full(node))
	}
	return c.strangers(ctx, node, perms)
}

func (c *Client) strangers(ctx context.Context, node string, perms int32) ([]ACL, error) {
	acl, _, err := c.GetACL(ctx, node)
	return slices.DeleteFunc(acl, func(a ACL) bool {
		return a.Perms&perms == 0 || a.Scheme != "world" && a.Scheme != "ip" && a.Scheme != "host"
	}), err
}

// WarnOfStrangers logs a warning if Strangers finds any although Config.Auth has
// credentials, which were meant to keep them out. Recipes call it for the nodes under
// which they contend. It returns at once: the ACL is read in the background, once per
// node and session, for the first thousand nodes. Without credentials it sends nothing.
// A read that fails is no error, and is made again at the next call unless it was
// refused.
func (c *Client) WarnOfStrangers(node string, perms int32) {
	s := c.Session()
	if len(c.core.cfg.Auth) == 0 || s == nil || !s.looked.first(c.full(node)) {
		return
	}
	s.Go(func(ctx context.Context) {
		open, err := c.In(s).Once().strangers(ctx, node, perms)
		switch {
		case OutcomeOf(err) == Unknown, errors.Is(err, ErrNoNode):
			s.looked.forget(c.full(node)) // it will be there, or answered, another time
		case len(open) > 0:
			who := make([]string, len(open))
			for i, a := range open {
				who[i] = a.String()
			}
			c.Logger().Warn("not protected by the credentials: strangers can take part here or delete the holder's node",
				"path", quote.Path(c.full(node)), "open", strings.Join(who, ","),
				"mend", "framework.OwnedBelow for Config.ACL before the path is made, or setAcl auth::cdrwa,world:anyone:r")
		}
	})
}

// lookedLimit bounds how many paths a session remembers, and warns of.
const lookedLimit = 1000

// lookedPaths are those whose ACLs were looked at in a session.
type lookedPaths struct {
	mu    sync.Mutex
	paths map[string]struct{}
}

// first reports whether a path is to be looked at, and notes that it is.
func (l *lookedPaths) first(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.paths[path]; known || len(l.paths) >= lookedLimit {
		return false
	}
	if l.paths == nil {
		l.paths = map[string]struct{}{}
	}
	l.paths[path] = struct{}{}
	return true
}

func (l *lookedPaths) forget(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.paths, path)
}
