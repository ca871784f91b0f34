package lease

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// Revoke asks the holder of the znode at path, a Contender's or a Lease's, to give
// way: Lease.Revoked is closed there. It does not wait for that, and nothing makes
// the holder obey. One that still waits in line learns of it when its turn comes,
// but at a semaphore perhaps not if its turn comes at that very moment.
//
// Holders that use Apache Curator are asked as by its Revoker. Errors:
// ErrNotContender, and then nothing is written, if the znode is not one that contends
// for anything, such as the path of the recipe itself; framework.ErrNoNode if the
// place has been given back; framework.ErrNoAuth if its holder uses credentials
// (framework.Config.Auth) and the client has none of them; and others of the framework.
func Revoke(ctx context.Context, client *framework.Client, path string) error {
	// To ask is to write, and at another node that would destroy what it stores.
	if err := framework.ValidatePath(path); err != nil {
		return fmt.Errorf("revoke: %w", err)
	}
	if !znode.Contends(path) {
		return fmt.Errorf("revoke %s: %w", quote.Path(path), ErrNotContender)
	}
	for {
		data, stat, err := client.Get(ctx, path)
		if err != nil {
			return fmt.Errorf("revoke %s: %w", quote.Path(path), err)
		}
		if stat.EphemeralOwner == 0 {
			return fmt.Errorf("revoke %s: no session owns it: %w", quote.Path(path), ErrNotContender)
		}
		marked, change := znode.MarkRevoked(path, data)
		if !change {
			return nil
		}
		// The version keeps it from undoing what another says meanwhile, and makes
		// it safe to try again when the outcome is not known.
		switch _, err = client.Set(ctx, path, marked, stat.Version); {
		case err == nil:
			return nil
		case errors.Is(err, framework.ErrBadVersion), errors.Is(err, framework.ErrUnknownOutcome) && ctx.Err() == nil:
		case errors.Is(err, framework.ErrNoAuth):
			return fmt.Errorf("revoke %s: only with the credentials of its holder: %w", quote.Path(path), err)
		default:
			return fmt.Errorf("revoke %s: %w", quote.Path(path), err)
		}
	}
}
