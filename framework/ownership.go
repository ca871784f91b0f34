package framework

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// owned is the ACL of what belongs to the credentials of the session that makes it, all
// of them, and that others may look at: who waits in line watches the node ahead.
var owned = append(CreatorACL(PermAll), WorldACL(PermRead)...)

// OwnedBelow returns an ACL function for Config.ACL. The nodes at the given paths and
// below belong to the credentials in Config.Auth; others may read them, and nothing
// else. What lies above, and elsewhere, is open to everybody: other clients' nodes lie
// there too. The paths are those on the server, with chroot and namespace.
//
// It closes the path of a lock: ZooKeeper asks the parent who may create or delete a
// node, so the ACL of a contender's own node does not keep it from being deleted.
// Whoever has none of the credentials can then neither contend there nor take a place
// away, but still sees who is in line. A path that exists already keeps the ACL that it
// has: recipes warn of one that is open (see Config.ACL), and SetACL closes it.
//
// If there is no path, or one that is not valid (see ValidatePath), the function
// returns no ACL for any node, so that every create fails with ErrInvalidACL: what was
// to be protected is not made open by mistake. So it does if the session has proved no
// identity.
func OwnedBelow(paths ...string) func(path string) []ACL {
	paths = slices.Clone(paths)
	bad := len(paths) == 0
	for i, path := range paths {
		bad = bad || ValidatePath(path) != nil
		paths[i] = strings.TrimSuffix(path, "/") // of the root
	}
	open := WorldACL(PermAll)
	return func(node string) []ACL {
		if bad {
			return nil
		}
		for _, path := range paths {
			if node == path || strings.HasPrefix(node, path+"/") {
				return owned
			}
		}
		return open
	}
}

// acls returns where the ACLs of new nodes come from, and those of the ephemeral ones
// of CreateProtected, such as those of contenders.
func (cfg Config) acls() (all, protected func(path string) []ACL) {
	if cfg.ACL != nil {
		return cfg.ACL, cfg.ACL
	}
	open := WorldACL(PermAll)
	all = func(string) []ACL { return open }
	if len(cfg.Auth) == 0 {
		return all, all
	}
	return all, func(string) []ACL { return owned }
}

// explainACL says what the server means that refuses an ACL which is right by itself.
func explainACL(err error, acl []ACL) error {
	mine := func(a ACL) bool { return a.Scheme == "auth" }
	if !errors.Is(err, ErrInvalidACL) || !slices.ContainsFunc(acl, mine) {
		return err
	}
	return fmt.Errorf("%w: it names the creator, and the session has proved no identity that an acl can name, as a digest is", err)
}
