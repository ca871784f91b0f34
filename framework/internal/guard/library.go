package guard

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// Open is the only place where a zk.Conn is made. The library makes the connect
// requests and the pings. It gets a placeholder for an address: the guard knows the
// real ones.
func (g *Guard) Open() error {
	var err error
	g.library, g.stopped, err = zk.Connect([]string{"zookeeper"}, g.cfg.SessionTimeout,
		zk.WithDialer(g.Dial),
		zk.WithHostProvider(g),
		zk.WithMaxBufferSize(libraryBuffer),
		zk.WithMaxConnBufferSize(libraryBuffer),
		zk.WithLogger(libraryLog{g.cfg.Logger}),
		zk.WithLogInfo(false),
	)
	if err != nil {
		return fmt.Errorf("start zookeeper client: %w", err)
	}
	return nil
}

// libraryBuffer is the size of the library's buffers for what it sends and receives, a
// connect request and its reply at most. It would take 1.5 MiB for each.
const libraryBuffer = 1 << 10

// libraryLog logs the library's messages at debug level. What matters in them is
// reported as state changes and errors.
type libraryLog struct{ log *slog.Logger }

// Printf logs one message.
func (l libraryLog) Printf(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("zookeeper client", "message", quote.Path(fmt.Sprintf(format, args...)))
	}
}

// closeHeadStart is how long Close runs before the library is released; see Finish.
const closeHeadStart = 2 * time.Millisecond

// Finish ends the library's goroutines. The session must be sealed: the library's loop
// is then on its way into the guard's dialer, where it blocks.
//
// Close queues a close request and waits up to a second for its end, which comes when
// the loop fails all queued requests. The loop does that once, when it is released. So
// it is released only after Close has had time to queue its request. If Close is too
// slow all the same, ending takes a second longer and nothing else happens.
//
// A function of the caller that does not return blocks the library. Finish gives up
// after some time then.
func (g *Guard) Finish() {
	limit, cancel := context.WithTimeout(context.Background(), callbackLimit)
	defer cancel()
	select {
	case <-g.parked.Done():
	case <-limit.Done():
	}
	time.AfterFunc(closeHeadStart, g.release.Give)
	g.library.Close()
	for more := true; more && limit.Err() == nil; { // drained until the loop has ended
		select {
		case _, more = <-g.stopped:
		case <-limit.Done():
		}
	}
}
