package framework_test

import (
	"context"
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func (p place) createAndList(ctx context.Context) (framework.Created, kit.Listing, error) {
	return kit.Of(p.Client).CreateListed(ctx, "/queue/n-", []byte("me"), framework.EphemeralSequential)
}

// The listing is carried out behind the create: each shows its node, and costs one
// request.
func TestListingBehindACreate(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		for i := range 50 {
			made, listing, err := p.createAndList(t.Context())
			require.NoError(t, err)
			require.NoError(t, listing.Err)
			assert.Len(t, listing.Children, i+1)
			assert.Contains(t, listing.Children, path.Base(made.Path))
		}
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: 50, zktest.OpGetChildren2: 50}, requests(p.server))
	})
}

func TestListingOfACreateThatWasSentAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  func(r *zktest.Rule)
		counts map[zktest.Op]int
		shown  bool
	}{
		"refused, it had no effect":   {func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) }, map[zktest.Op]int{zktest.OpCreate: 2, zktest.OpGetChildren2: 1}, false},
		"carried out, and then found": {func(r *zktest.Rule) { r.After().Cut() }, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				tc.fault(p.server.On(zktest.OpCreate, ""))
				made, listing, err := p.createAndList(t.Context())
				require.NoError(t, err)
				p.only(t, made)
				if tc.counts != nil {
					require.NoError(t, listing.Err)
					assert.Equal(t, tc.counts, requests(p.server))
				}
				if listing.Err != nil { // it was on the connection that broke
					assert.ErrorIs(t, listing.Err, framework.ErrUnknownOutcome)
				} else if tc.shown {
					assert.Contains(t, listing.Children, path.Base(made.Path))
				}
			})
		})
	}
}

func TestListingBehindACreateThatFails(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		made, listing, err := kit.Of(p.Client).CreateListed(t.Context(), "/none/n-", nil, framework.EphemeralSequential)
		require.ErrorIs(t, err, framework.ErrNoNode)
		assert.Zero(t, made)
		assert.Zero(t, listing)

		synctest.Wait() // a listing may be on its way
		p.server.ResetCounts()
		p.server.On(zktest.OpCreate, "").DropReply()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		sent := make(chan int, 1)
		// Once the call has ended, its clean-up lists the children, too.
		time.AfterFunc(time.Second/2, func() { sent <- requests(p.server)[zktest.OpGetChildren2] })
		made, listing, err = p.createAndList(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, made)
		assert.Zero(t, listing)
		assert.Equal(t, time.Second, time.Since(start), "the listing does not hold it up")
		assert.Equal(t, 1, <-sent, "it did not wait for the answer to the create")
	})
}

// A create whose listing cannot be had is a create all the same.
func TestListingThatIsTooLarge(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, smallReplies)
		for i := range 4 * replyLimit >> 10 {
			_, err := c.Create(t.Context(), fmt.Sprintf("/%0300d", i), nil, framework.Persistent)
			require.NoError(t, err)
		}
		made, listing, err := kit.Of(c).CreateListed(t.Context(), "/n-", nil, framework.Ephemeral)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(made.Path, "/_c_"))
		assert.ErrorIs(t, listing.Err, framework.ErrReplyTooLarge)
		assert.Nil(t, listing.Children)
	})
}
