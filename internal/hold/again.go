package hold

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

// A server tells nobody of a node that he may not read at that moment (ZooKeeper from
// 3.8.4 on): whose ACL is changed first can be deleted without an event. So whoever
// waits for one looks a second time, slowly. What it finds never grants anything; it
// only makes whoever waits look properly, or ends what is over.

// LookAgain calls look about once per session timeout, on a goroutine that is there
// only meanwhile, until look returns false, which closes found, or stop is called,
// which waits for it. Of many who begin at one moment, each has its own time, by its
// key.
func LookAgain(ctx context.Context, s *framework.Session, key string, look func(ctx context.Context) (goOn bool)) (found <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	share := shareOf(key)
	pause := func() time.Duration { return time.Duration(s.Timeout().Milliseconds()*share) * time.Microsecond }
	var timer *time.Timer
	over := make(chan struct{})
	turn := make(chan struct{}, 1) // whoever looks, or touches the timer, fills it
	turn <- struct{}{}
	timer = time.AfterFunc(pause(), func() {
		turn <- struct{}{}
		defer func() { <-turn }()
		switch {
		case ctx.Err() != nil:
		case look(ctx):
			timer.Reset(pause())
		default:
			close(over)
		}
	})
	<-turn
	return over, func() {
		cancel()
		turn <- struct{}{}
		defer func() { <-turn }()
		timer.Stop()
	}
}

// shareOf returns 750 to 1249: the thousandths of the session timeout.
func shareOf(key string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return 750 + int64(h.Sum32()%500)
}

// Gone reports whether a node certainly is not there any more. If there is no answer,
// or the node must not be read, which says that it exists, it returns false.
func Gone(ctx context.Context, c *framework.Client, path string) bool {
	exists, _, err := kit.Of(c).Once().Exists(ctx, path)
	return err == nil && !exists
}

// lookAgainAt ends the hold if one of its znodes has gone, or is another. It returns
// the function that ends the looking.
func (h *Hold) lookAgainAt(ctx context.Context, path string) (stop func()) {
	_, stop = LookAgain(ctx, h.Session, path, func(ctx context.Context) (goOn bool) {
		exists, stat, err := kit.Of(h.Client).Once().Exists(ctx, path)
		if err == nil && !exists {
			err = framework.ErrNoNode
		}
		return !h.judge(stat, err)
	})
	return stop
}
