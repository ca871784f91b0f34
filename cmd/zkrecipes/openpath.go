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
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Credentials protect the nodes that zkrecipes creates: see framework.OwnedBelow. They
// do not help on an open path that another client has created, because the ACL of the
// parent says which clients may create and delete a node: a client without the
// credentials could join the queue, or delete the holder's node. So the ACL of an
// existing path is checked before the wait, which may be long, and once more when the
// lock is held. Only the second check is certain: until the path has a node of ours
// below it, another client may delete it and create it again. After that, only a client
// that may change its ACL can open it.

// finalCheckTime is the least time for the second check: a lock that was acquired in
// the last moment counts.
const finalCheckTime = listLimit / 5

// refuseOpenPath returns an error if credentials are used and a path is open to clients
// that its ACLs do not name. w bounds the check.
func (j *job) refuseOpenPath(ctx context.Context, w waitLimit) error {
	if len(j.cfg.Auth) == 0 {
		return nil
	}
	ctx, cancel := w.bound(ctx)
	defer cancel()
	open := &openPathError{servers: strings.Join(j.cfg.Servers, ","), scheme: j.cfg.Auth[0].Scheme, recursive: j.recipe.stripes > 0 || j.recipe.run != nil}
	for _, path := range j.paths {
		before := len(open.nodes)
		if err := j.findOpenNodes(ctx, path, open); err != nil {
			return fmt.Errorf("checking the ACL of %s: %w", path, err)
		}
		if len(open.nodes) > before {
			open.paths = append(open.paths, j.client.FullPath(path))
		}
	}
	if len(open.nodes) > 0 {
		return open
	}
	return nil
}

// findOpenNodes adds the nodes of one path that are open.
func (j *job) findOpenNodes(ctx context.Context, path string, open *openPathError) error {
	protected := j.protectedNodes(path)
	entries := make([][]framework.ACL, len(protected))
	err := inParallel(len(protected), func(i int) (err error) {
		entries[i], err = kit.Of(j.client).OpenEntries(ctx, protected[i].Path, protected[i].Denied)
		if errors.Is(err, framework.ErrNoNode) { // we create it, closed
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, to := range entries {
		if len(to) > 0 {
			open.nodes = append(open.nodes, j.client.FullPath(protected[i].Path))
			open.to = append(open.to, to[0])
		}
	}
	return nil
}

// protectedNodes are the nodes at a path that credentials have to protect. With a
// lock-delay there is one more for each queue: who may delete a record there could open
// a lock that is closed.
func (j *job) protectedNodes(path string) []recipepath.ProtectedNode {
	nodes := j.queueNodes(path)
	if j.lockDelay.value > 0 {
		for _, queue := range j.queuePaths(path) {
			nodes = append(nodes, recipepath.SizedNodes(queue+"/"+znode.LockDelayDir)...)
		}
	}
	return nodes
}

// queuePaths are the paths of the queues at a path.
func (j *job) queuePaths(path string) (all []string) {
	switch {
	case j.recipe.run != nil:
		return []string{path + "/" + j.recipe.run.node}
	case j.recipe.stripes == 0:
		return []string{path}
	}
	for _, number := range j.stripeNumbers() {
		all = append(all, path+"/"+znode.StripeDir(number))
	}
	return all
}

// queueNodes are those without a lock-delay.
func (j *job) queueNodes(path string) []recipepath.ProtectedNode {
	switch {
	case j.recipe.kind == lease.KindSemaphore && j.lockDelay.value > 0:
		return recipepath.SizedNodes(path)
	case j.recipe.kind == lease.KindSemaphore:
		return recipepath.SemaphoreNodes(path)
	case j.recipe.stripes > 0:
		return recipepath.StripeNodes(path, j.stripeNumbers()...)
	case j.recipe.run != nil:
		return j.recipe.run.nodes(path)
	}
	return recipepath.QueueNodes(path)
}

// An openPathError means that credentials are used on paths that they do not protect.
type openPathError struct {
	paths           pathList
	nodes           []string // that are open, with chroot
	to              []framework.ACL
	servers, scheme string
	recursive       bool // all below the paths belongs to them, and may be many nodes
}

// Error says which node is open to whom, and how to close it.
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
	if e.recursive {
		mend = []string{fmt.Sprintf("setAcl -R %s auth::cdrwa,world:anyone:r", cliWord(e.paths[0]))}
		if more := len(who) - 1; more > 0 {
			who = []string{fmt.Sprintf("%s (and %d more)", who[0], more)}
		}
	}
	return fmt.Sprintf("%s %s not protected by the credentials: clients without them can take part or delete the holder's node, as %s; "+
		"to close it, in zkCli.sh -server %s: addauth %s %s, then: %s",
		e.paths, e.paths.are(), strings.Join(who, ", "), e.servers, e.scheme, secret, strings.Join(mend, ", then: "))
}

// cliWord quotes a path for zkCli.sh, which splits lines at white space and has no
// escapes: a path with white space and both kinds of quotes cannot be written for it.
func cliWord(path string) string {
	switch {
	case !strings.ContainsFunc(path, unicode.IsSpace):
		return path
	case strings.Contains(path, `"`):
		return "'" + path + "'"
	}
	return `"` + path + `"`
}
