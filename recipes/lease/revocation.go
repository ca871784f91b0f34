package lease

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// RequestRevocation requests that a holder releases: it closes the channel that
// Lease.RevocationRequested returns there. path is a znode, the Path of a Contender or
// of a Lease. It does not wait, and the holder need not obey. A contender that still
// waits sees the request when it is granted, but at a semaphore perhaps not if it is
// being granted at that moment.
//
// With holders that use Apache Curator it works like its Revoker. Errors:
// ErrNotContender if the znode is no contender's, such as the path of the recipe
// itself: nothing is written then; framework.ErrNoNode if the lease was released;
// framework.ErrNoAuth if the holder uses credentials (framework.Config.Auth) and the
// client has none of them; and others of the framework.
func RequestRevocation(ctx context.Context, client *framework.Client, path string) error {
	if client == nil {
		return fmt.Errorf("request revocation: %w: no client", framework.ErrInvalidArgument)
	}
	if err := framework.ValidatePath(path); err != nil {
		return fmt.Errorf("request revocation: %w", err)
	}
	// The request is written into the znode. In another znode that would destroy data.
	if !znode.Contends(path) {
		return fmt.Errorf("request revocation of %s: %w", quote.Path(path), ErrNotContender)
	}
	err := client.Update(ctx, path, func(data []byte, stat framework.Stat) (marked []byte, change bool, err error) {
		if stat.EphemeralOwner == 0 {
			return nil, false, fmt.Errorf("no session owns it: %w", ErrNotContender)
		}
		marked, change = znode.MarkRevocation(path, data)
		return marked, change, nil
	})
	if errors.Is(err, framework.ErrNoAuth) {
		err = fmt.Errorf("only with the credentials of its holder: %w", err)
	}
	if err != nil {
		return fmt.Errorf("request revocation of %s: %w", quote.Path(path), err)
	}
	return nil
}
