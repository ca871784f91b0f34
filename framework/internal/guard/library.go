package guard

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// Open is the only place where a zk.Conn is made. The library gets a placeholder for an
// address (the guard knows the real ones), buffers large enough for the requests and
// answers that are allowed, and a callback for events, because its event channel drops
// events that are not read at once. The callback runs on the library's goroutines,
// sometimes under the library's locks: it must not block or call an operation.
func (g *Guard) Open(onEvent func(zk.Event)) (*zk.Conn, error) {
	var err error
	g.library, g.stopped, err = zk.Connect([]string{"zookeeper"}, g.cfg.SessionTimeout,
		zk.WithDialer(g.Dial),
		zk.WithHostProvider(g),
		zk.WithEventCallback(func(ev zk.Event) {
			if ev.State != stateForgotten { // that event is for the library
				onEvent(ev)
			}
		}),
		zk.WithMaxBufferSize(max(g.cfg.MaxReplyBytes, leastBuffer)), // the guard hands over no more
		zk.WithMaxConnBufferSize(setWatchesBytes+g.cfg.MaxRequestBytes+8<<10),
		zk.WithLogger(libraryLog{g.cfg.Logger}),
		zk.WithLogInfo(false),
	)
	if err != nil {
		return nil, fmt.Errorf("start zookeeper client: %w", err)
	}
	return g.library, nil
}

// leastBuffer is enough for what MaxReplyBytes does not limit: a connect reply, the
// header of an answer.
const leastBuffer = 1 << 10

// setWatchesBytes is enough for the library's own largest request, except one path: the
// library stops adding paths of watches at 128 KiB. It would silently drop a request
// that did not fit, and all those watches with it.
const setWatchesBytes = 128 << 10

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
