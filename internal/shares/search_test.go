package shares

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// The call that is to look is granted its share just then. It says that it has left,
// and another one looks.
func TestAnotherCallLooksAfterOneThatHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s search
		granted := func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		}
		looks := make(chan error, 1)
		go func() {
			look, err := s.await(t.Context(), granted)
			assert.True(t, look)
			assert.NoError(t, err)
			s.left()
		}()
		synctest.Wait()
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := s.await(ctx, func(ctx context.Context) error {
				<-ctx.Done()
				return context.Cause(ctx)
			})
			looks <- err
			s.looked(false)
		}()
		assert.ErrorIs(t, <-looks, errLook)
	})
}
