package framework

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// owned is the ACL of nodes that belong to all credentials of the session that makes
// them, and that others may read: contenders watch the node ahead.
var owned = append(CreatorACL(PermAll), WorldACL(PermRead)...)

// OwnedBelow returns a function for Config.ACL. The nodes at the given paths and below
// belong to the credentials in Config.Auth; other clients may only read them. All other
// nodes are open to all clients, as other programs' nodes may lie there too. The paths
// are those on the server, with chroot and namespace.
//
// It closes the path of a lock: ZooKeeper checks the parent's ACL when a node is
// created or deleted, so the ACL of a contender's own node does not keep other clients
// from deleting it. Below an owned path a client without the credentials can neither
// contend nor delete a contender's node, but can still read who contends. A path that
// exists already keeps its ACL: recipes log a warning if it is open (see Config.Auth),
// and SetACL closes it.
//
// If there is no path, or one that is not valid (see ValidatePath), the function
// returns no ACL for any node. Then every create fails with ErrInvalidACL, so that
// nothing is open by mistake. So does every create of an owned node if the session has
// proved no identity.
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

// explainACL says why a server may have refused an ACL that is valid.
func explainACL(err error, acl []ACL) error {
	mine := func(a ACL) bool { return a.Scheme == "auth" }
	if !errors.Is(err, ErrInvalidACL) || !slices.ContainsFunc(acl, mine) {
		return err
	}
	return fmt.Errorf("%w: it names the creator, and the session has proved no identity that an acl can name, as a digest is", err)
}
