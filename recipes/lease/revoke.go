package lease

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// Revoke asks the holder of the znode at path, a Contender's or a Lease's, to give way:
// Lease.Revoked is closed there. It does not wait for that, and nothing makes the
// holder obey. One that still waits in line learns of it when its turn comes, but at a
// semaphore perhaps not if its turn comes at that very moment.
//
// Holders that use Apache Curator are asked as by its Revoker. Errors: ErrNotContender,
// and then nothing is written, if the znode is not one that contends for anything, such
// as the path of the recipe itself; framework.ErrNoNode if the place has been given
// back; framework.ErrNoAuth if its holder uses credentials (framework.Config.Auth) and
// the client has none of them; and others of the framework.
func Revoke(ctx context.Context, client *framework.Client, path string) error {
	// To ask is to write, and at another node that would destroy what it stores.
	if err := framework.ValidatePath(path); err != nil {
		return fmt.Errorf("revoke: %w", err)
	}
	if !znode.Contends(path) {
		return fmt.Errorf("revoke %s: %w", quote.Path(path), ErrNotContender)
	}
	err := client.Update(ctx, path, func(data []byte, stat framework.Stat) (marked []byte, change bool, err error) {
		if stat.EphemeralOwner == 0 {
			return nil, false, fmt.Errorf("no session owns it: %w", ErrNotContender)
		}
		marked, change = znode.MarkRevoked(path, data)
		return marked, change, nil
	})
	if errors.Is(err, framework.ErrNoAuth) {
		err = fmt.Errorf("only with the credentials of its holder: %w", err)
	}
	if err != nil {
		return fmt.Errorf("revoke %s: %w", quote.Path(path), err)
	}
	return nil
}
