package hold

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

// A server sends no event for a node that the client may not read at that moment
// (ZooKeeper from 3.8.4 on): if its ACL is changed first, a node can be deleted without
// an event. So each wait for a node also reads it again, slowly. What that finds never
// grants anything: it only makes the waiter read everything again, or ends a hold that
// is over. Holds look from their table.

// LookAgain calls look about once per session timeout until look returns false, which
// closes found, or stop is called. There is a goroutine only during a call, and stop
// waits for it. The key spreads in time the calls of many waiters that begin at one
// moment.
func LookAgain(ctx context.Context, s *framework.Session, key string, look func(ctx context.Context) (goOn bool)) (found <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	share := shareOf(key)
	var timer *time.Timer
	over := make(chan struct{})
	busy := make(chan struct{}, 1) // full during a look, and while the timer is set
	busy <- struct{}{}
	timer = time.AfterFunc(pause(s, share), func() {
		busy <- struct{}{}
		defer func() { <-busy }()
		switch {
		case ctx.Err() != nil:
		case look(ctx):
			timer.Reset(pause(s, share))
		default:
			close(over)
		}
	})
	<-busy
	return over, func() {
		cancel()
		busy <- struct{}{}
		defer func() { <-busy }()
		timer.Stop()
	}
}

// LookInterval returns the time between the looks for a key: 0.75 to 1.25 session
// timeouts.
func LookInterval(s *framework.Session, key string) time.Duration { return pause(s, shareOf(key)) }

// pause returns the time until the next look.
func pause(s *framework.Session, share int64) time.Duration {
	return time.Duration(s.Timeout().Milliseconds()*share) * time.Microsecond
}

// shareOf returns 750 to 1249: thousandths of the session timeout.
func shareOf(key string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return 750 + int64(h.Sum32()%500)
}

// Gone reports whether a node certainly no longer exists. It returns false without an
// answer, and if the node must not be read, because then it exists.
func Gone(ctx context.Context, c *framework.Client, path string) bool {
	exists, _, err := kit.Of(c).Once().Exists(ctx, path)
	return err == nil && !exists
}
