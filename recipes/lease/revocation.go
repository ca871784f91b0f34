package lease

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// RequestRevocation requests that a holder releases: it closes the channel that
// Lease.RevocationRequested returns there. node is a znode, the Path of a Contender or
// of a Lease. It does not wait, and the holder need not obey. A contender that still
// waits sees the request when it is granted, but perhaps not if at that moment it is
// being granted a permit of a semaphore, or is stepping back in an election.
//
// With holders that use Apache Curator it works like its Revoker. Errors:
// ErrNotContender if the znode is no contender's, such as the path of the recipe
// itself: nothing is written then; framework.ErrNoNode if the lease was released;
// framework.ErrNoAuth if the holder uses credentials (framework.Config.Auth) and the
// client has none of them, or may not list the candidates of an election;
// ErrCuratorBehind, unless the candidate behind it joins at that moment; and others of
// the framework.
func RequestRevocation(ctx context.Context, client *framework.Client, node string) error {
	if client == nil {
		return fmt.Errorf("request revocation: %w: no client", framework.ErrInvalidArgument)
	}
	if err := framework.ValidatePath(node); err != nil {
		return fmt.Errorf("request revocation: %w", err)
	}
	// The request is written into the znode. In another znode that would destroy data.
	if !znode.Contends(node) {
		return fmt.Errorf("request revocation of %s: %w", quote.Path(node), ErrNotContender)
	}
	err := client.Update(ctx, node, func(data []byte, stat framework.Stat) (marked []byte, change bool, err error) {
		if stat.EphemeralOwner == 0 {
			return nil, false, fmt.Errorf("no session owns it: %w", ErrNotContender)
		}
		marked, change = znode.MarkRevocation(node, data)
		if change {
			err = checkBehind(ctx, client, node)
		}
		return marked, change, err
	})
	if errors.Is(err, framework.ErrNoAuth) {
		err = fmt.Errorf("only with the credentials of its holder: %w", err)
	}
	if err != nil {
		return fmt.Errorf("request revocation of %s: %w", quote.Path(node), err)
	}
	return nil
}

// checkBehind fails if the znode is a candidate's, and the one behind it would not
// notice later that it is deleted. One that joins between that and the write may still
// be such a one.
func checkBehind(ctx context.Context, client *framework.Client, node string) error {
	if _, latch := znode.Parse(path.Base(node), znode.Latch); !latch {
		return nil
	}
	parent := path.Dir(node)
	if err := client.Sync(ctx, parent); err != nil {
		return err
	}
	children, _, err := client.Children(ctx, parent)
	if err != nil {
		return fmt.Errorf("list the candidates behind it: %w", err)
	}
	if behind, some := znode.ForeignLatchBehind(path.Base(node), children); some {
		return fmt.Errorf("%w: %s", ErrCuratorBehind, quote.Brief(behind))
	}
	return nil
}
