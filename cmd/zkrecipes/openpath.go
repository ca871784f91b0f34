package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Credentials keep strangers out of what zkrecipes makes: see framework.OwnedBelow.
// They do not help on a path that somebody else has made, open, because ZooKeeper asks
// the parent who may create and delete a node: strangers could join the queue there, or
// delete the holder's node. So the ACL of a path that exists is looked at before the
// wait, which may be long, and once more when the place is had. Only the second look is
// certain: until there is a node of ours below it, the path may go and be made anew by
// a stranger. From then on only those can change it who may change its ACL.

// lastLook is what there is at least of the time for the second look: to have won in
// the last moment is to have won.
const finalCheckTime = listLimit / 5

// refuseStrangers returns an error if the place is open to others than those who are
// named, when credentials are used, which were meant to keep them out. w bounds it.
func (j *job) refuseOpenPath(ctx context.Context, w waitLimit) error {
	if len(j.cfg.Auth) == 0 {
		return nil
	}
	ctx, cancel := w.bound(ctx)
	defer cancel()
	open := &openPathError{path: j.client.FullPath(j.path), servers: strings.Join(j.cfg.Servers, ","), scheme: j.cfg.Auth[0].Scheme}
	protected := recipepath.QueueNodes(j.path)
	if j.recipe.kind == lease.KindSemaphore {
		protected = recipepath.SemaphoreNodes(j.path)
	}
	for _, node := range protected {
		to, err := kit.Of(j.client).OpenEntries(ctx, node.Path, node.Denied)
		switch {
		case errors.Is(err, framework.ErrNoNode): // we make it, and for us alone
		case err != nil:
			return fmt.Errorf("who may enter %s: %w", j.path, err)
		case len(to) > 0:
			open.nodes = append(open.nodes, j.client.FullPath(node.Path))
			open.to = append(open.to, to[0])
		}
	}
	if len(open.nodes) > 0 {
		return open
	}
	return nil
}

// An openError means that credentials are used where they are of no use.
type openPathError struct {
	path            string
	nodes           []string // that are open, with chroot
	to              []framework.ACL
	servers, scheme string
}

// Error says who may do what, and how to mend it.
func (e *openPathError) Error() string {
	secret := "SECRET"
	if e.scheme == "digest" {
		secret = "USER:PASSWORD"
	}
	var who, mend []string
	for i, node := range e.nodes {
		who = append(who, fmt.Sprintf("the ACL of %s has %v", node, e.to[i]))
		mend = append(mend, fmt.Sprintf("setAcl %s auth::cdrwa,world:anyone:r", cliWord(node)))
	}
	return fmt.Sprintf("%s is not protected by the credentials: strangers can take part or delete the holder's node, as %s; "+
		"to close it, in zkCli.sh -server %s: addauth %s %s, then: %s",
		e.path, strings.Join(who, ", "), e.servers, e.scheme, secret, strings.Join(mend, ", then: "))
}

// cliWord quotes a path for zkCli.sh, which splits lines at white space and knows no
// escapes: only a path with both kinds of quotes and white space cannot be told to it.
func cliWord(path string) string {
	switch {
	case !strings.ContainsFunc(path, unicode.IsSpace):
		return path
	case strings.Contains(path, `"`):
		return "'" + path + "'"
	}
	return `"` + path + `"`
}
