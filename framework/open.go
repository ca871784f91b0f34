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

// OpenEntries returns the entries that permit any of perms to a client without
// credentials.
func (v recipeView) OpenEntries(ctx context.Context, node string, perms int32) ([]ACL, error) {
	if s := v.Session(); s != nil {
		s.checked.first(v.full(node))
	}
	return v.openEntries(ctx, node, perms)
}

func (c *Client) openEntries(ctx context.Context, node string, perms int32) ([]ACL, error) {
	acl, _, err := c.GetACL(ctx, node)
	return slices.DeleteFunc(acl, func(a ACL) bool {
		return a.Perms&perms == 0 || a.Scheme != "world" && a.Scheme != "ip" && a.Scheme != "host"
	}), err
}

// WarnIfOpen logs a warning if there are any, although there are credentials.
func (v recipeView) WarnIfOpen(node string, perms int32) {
	c, s := v.Client, v.Session()
	if len(c.core.cfg.Auth) == 0 || s == nil || !s.checked.first(c.full(node)) {
		return
	}
	s.Go(func(ctx context.Context) {
		open, err := recipeView{c.In(s)}.Once().openEntries(ctx, node, perms)
		switch {
		case OutcomeOf(err) == Unknown, errors.Is(err, ErrNoNode):
			s.checked.forget(c.full(node)) // the next call reads it again
		case len(open) > 0:
			who := make([]string, len(open))
			for i, a := range open {
				who[i] = a.String()
			}
			v.Logger().Warn("not protected by the credentials: clients without them can contend here or delete the holder's node",
				"path", quote.Path(c.full(node)), "open", strings.Join(who, ","),
				"mend", "framework.OwnedBelow for Config.ACL before the path is made, or setAcl auth::cdrwa,world:anyone:r")
		}
	})
}

// checkedLimit bounds how many paths a session remembers, and warns of.
const checkedLimit = 1000

// checkedPaths are those whose ACLs were read in a session.
type checkedPaths struct {
	mu    sync.Mutex
	paths map[string]struct{}
}

// first reports whether a path was not checked yet, and records that it is.
func (l *checkedPaths) first(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.paths[path]; known || len(l.paths) >= checkedLimit {
		return false
	}
	if l.paths == nil {
		l.paths = map[string]struct{}{}
	}
	l.paths[path] = struct{}{}
	return true
}

func (l *checkedPaths) forget(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.paths, path)
}
