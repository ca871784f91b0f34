package main

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Why the node that is deleted is the contender's that was seen, and no other one of
// the same name. A delete names a path, not the transaction that made the node, which
// is its token. A node can get the same name again if its parent is removed when it is
// empty, and made again: then its numbers begin again, and some clients use one random
// id for all of their nodes. So:
//
//   - First a guard is made, a node beside the contender's, in the present session. By
//     its name it contends for nothing. While it exists its parent does, and a parent
//     gives no number twice.
//   - Then, in the same session, the contender's node is read. So the answer is not
//     older than the guard. If the token is another one, nothing is deleted.
//   - One transaction deletes both. It fails unless the guard exists, so the parent has
//     been the same all the time, and a node of that name is the one that was read.
//
// A waiter may be granted the lock between the look and the delete. It is the client
// that was named all the same, and notices that as any holder does.
//
// After an unknown outcome it begins again: while the node is there, it is deleted. If
// it is gone, either the earlier delete has removed it, or its owner.

// deleteContender deletes the node of a contender. certain says that it was this client
// who did.
func deleteContender(ctx context.Context, client *framework.Client, c inspect.Contender) (certain bool, err error) {
	var unknown error
	for {
		err := deleteOnce(ctx, client, c)
		doubt := (*doubtError)(nil)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, errLeft) && unknown != nil:
			return false, nil //nolint:nilerr // it is gone, as was wanted
		case ctx.Err() != nil:
		case errors.As(err, &doubt):
			unknown = err
			continue
		case errors.Is(err, framework.ErrSessionLost), errors.Is(err, errUnguarded):
			continue
		}
		if unknown != nil && !errors.As(err, &doubt) {
			err = &doubtError{fmt.Errorf("%w; before that: %w", err, unknown)}
		}
		if errors.Is(err, framework.ErrNoAuth) {
			err = fmt.Errorf("only with the credentials of those who use it: %w", err)
		}
		return false, err
	}
}

// A doubtError means that it is not known whether the node was deleted.
type doubtError struct{ err error }

// Error says so.
func (e *doubtError) Error() string {
	return fmt.Sprintf("it is not known whether it was taken away, see \"zkrecipes ls\": %v", e.err)
}

// Is reports that the outcome is unknown.
func (e *doubtError) Is(target error) bool { return target == framework.ErrUnknownOutcome }

// errUnguarded means that another client has deleted the guard.
var errUnguarded = errors.New("the node that guards the delete is gone")

// guardName is how the name of a guard ends.
const guardName = "force"

// deleteOnce tries it once. It returns errLeft if the node is not there any more.
func deleteOnce(ctx context.Context, client *framework.Client, c inspect.Contender) error {
	session, err := client.AwaitSession(ctx)
	if err != nil {
		return err
	}
	in := client.In(session)
	guard, err := in.CreateProtected(ctx, path.Dir(c.Path)+"/"+guardName, nil, framework.Ephemeral)
	if errors.Is(err, framework.ErrNoNode) {
		return errLeft
	}
	if err != nil {
		return err
	}
	exists, stat, err := in.Exists(ctx, c.Path)
	if err == nil && (!exists || c.Token != 0 && lease.Token(stat.Czxid) != c.Token) {
		err = errLeft
	}
	if err != nil {
		return err
	}
	_, err = in.Multi(ctx, framework.DeleteOp(c.Path, framework.AnyVersion), framework.DeleteOp(guard.Path, framework.AnyVersion))
	failed := (*framework.MultiError)(nil)
	switch {
	case framework.OutcomeOf(err) == framework.Unknown:
		return &doubtError{err}
	case !errors.As(err, &failed) || !errors.Is(err, framework.ErrNoNode):
		return err
	case failed.Index == 0:
		return errLeft
	}
	return errUnguarded
}
