package queue

import (
	"context"
	"fmt"

	"github.com/zkrecipes/zkrecipes/internal/hold"
)

// LookAgain looks slowly, until stop is called, for a change without an event of the
// head that WatchHead returned: exists says whether there was one. found is closed when
// WatchHead should be called again.
func (q *Queue) LookAgain(ctx context.Context, head string, exists bool) (found <-chan struct{}, stop func()) {
	s := q.Client.Session()
	return hold.LookAgain(ctx, s, fmt.Sprint(head, s.ID()), func(ctx context.Context) (goOn bool) {
		return exists && !hold.Gone(ctx, q.Client, head)
	})
}
