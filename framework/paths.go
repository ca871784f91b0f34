package framework

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// validatePath applies ZooKeeper's rules for paths and says which is broken. With
// sequential true the last element may be empty, since the server appends the sequence
// number to it.
func validatePath(path string, sequential bool) error {
	bad := func(why string) error { return fmt.Errorf("%w \"%s\": %s", ErrInvalidPath, quote.Path(path), why) }
	switch {
	case path == "":
		return bad("empty")
	case path[0] != '/':
		return bad("does not begin with a slash")
	case !utf8.ValidString(path):
		return bad("not valid utf-8")
	case path == "/":
		return nil
	}
	for rest, more := path[1:], true; more; {
		var e string
		switch e, rest, more = strings.Cut(rest, "/"); {
		case e == "" && !more && sequential:
		case e == "" && !more:
			return bad("ends with a slash")
		case e == "":
			return bad("empty element")
		case e == "." || e == "..":
			return bad("relative element")
		}
	}
	for _, r := range path {
		if refusedInPaths(r) {
			return bad(fmt.Sprintf("character %U not allowed", r))
		}
	}
	return nil
}

// refusedInPaths reports whether servers refuse a path with that character: control
// characters, the private ones below U+F900, and all from U+FFF0 on. Those beyond
// U+FFFF are surrogates to a server, which it refuses as well.
func refusedInPaths(r rune) bool {
	return r <= 0x1f || (r >= 0x7f && r <= 0x9f) || (r >= 0xd800 && r <= 0xf8ff) || r >= 0xfff0
}

// parentOf returns the path above path; "/" for a top-level one.
func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// join appends a name to a path.
func join(path, name string) string {
	if path == "/" {
		return path + name
	}
	return path + "/" + name
}

// full puts chroot and namespace before a path that a caller gave.
func (c *Client) full(path string) string {
	if path == "/" && c.prefix != "" {
		return c.prefix
	}
	return c.prefix + path
}

// local removes them again.
func (c *Client) local(path string) string {
	rest, ok := strings.CutPrefix(path, c.prefix)
	switch {
	case !ok:
		return path
	case rest == "":
		return "/"
	}
	return rest
}

// FullPath returns the path on the server of a path of this client: with chroot and
// namespace. Two clients of one ensemble mean the same znode if and only if their full
// paths are equal.
func (c *Client) FullPath(path string) string {
	c.mustBeUsable()
	return c.full(path)
}

// Namespace returns a view of the client whose paths lie under a further relative path,
// such as "billing/eu". The view shares the session; closing either closes both.
func (c *Client) Namespace(ns string) (*Client, error) {
	if err := cmp.Or(c.usable(), validateNamespace(ns)); err != nil {
		return nil, fmt.Errorf("namespace: %w", err)
	}
	view := *c
	view.prefix += "/" + ns
	return &view, nil
}

// validateNamespace returns why a namespace is not a relative path.
func validateNamespace(ns string) error {
	if strings.HasPrefix(ns, "/") {
		return fmt.Errorf("%w \"%s\": begins with a slash, but is relative", ErrInvalidPath, quote.Path(ns))
	}
	return validatePath("/"+ns, false)
}

// ValidatePath returns an ErrInvalidPath that says which of ZooKeeper's rules for paths
// is broken, or nil: a path is absolute, has no element that is empty, "." or "..", is
// UTF-8, and has none of the characters that servers refuse, such as control characters
// and all beyond U+FFFF.
func ValidatePath(path string) error { return validatePath(path, false) }

var pathSeed = maphash.MakeSeed()

// hashOf takes the place of a path where many are kept, and it does no harm if two are
// taken for one.
func hashOf(path string) uint64 { return maphash.String(pathSeed, path) }
