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
// address (the guard knows the real ones), buffers that fit what is sent and accepted,
// and a callback for events, because its event channel drops what nobody reads at once.
// The callback runs on the library's goroutines, sometimes under the library's locks:
// it must not block or call an operation.
func (g *Guard) Open(onEvent func(zk.Event)) (*zk.Conn, error) {
	var err error
	g.library, g.stopped, err = zk.Connect([]string{"zookeeper"}, g.cfg.SessionTimeout,
		zk.WithDialer(g.Dial),
		zk.WithHostProvider(g),
		zk.WithEventCallback(func(ev zk.Event) {
			if ev.State != stateForgotten { // that is for the library
				onEvent(ev)
			}
		}),
		zk.WithMaxBufferSize(max(g.cfg.MaxReplyBytes, leastBuffer)), // more the guard does not hand over
		zk.WithMaxConnBufferSize(setWatchesBytes+g.cfg.MaxRequestBytes+8<<10),
		zk.WithLogger(libraryLog{g.cfg.Logger}),
		zk.WithLogInfo(false),
	)
	if err != nil {
		return nil, fmt.Errorf("start zookeeper client: %w", err)
	}
	return g.library, nil
}

// leastBuffer has room for what is not subject to MaxReplyBytes: a connect reply, the
// header of an answer.
const leastBuffer = 1 << 10

// setWatchesBytes has room for the library's own largest request, but for one path: it
// stops to add paths of watches at 128 KiB. A request that did not fit would be dropped
// without a word, and all those watches with it.
const setWatchesBytes = 128 << 10

// libraryLog passes the library's messages on at debug level: what matters in them is
// reported as state changes and errors.
type libraryLog struct{ log *slog.Logger }

// Printf logs one message.
func (l libraryLog) Printf(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("zookeeper client", "message", quote.Path(fmt.Sprintf(format, args...)))
	}
}

// closeHeadStart is the time that Close gets; see Finish.
const closeHeadStart = 2 * time.Millisecond

// Finish ends the library's goroutines. The session must be sealed: the library's loop
// is then on its way into the guard's dialer, where it is parked.
//
// Close queues a close request and waits up to a second for its end, which comes when
// the loop fails all that is queued. The loop does that once, when it is let go; so it
// is let go only when Close has had time to queue its request. Should Close lose that
// race all the same, ending takes a second longer, and that is all.
//
// A function of the caller's that does not come back holds the library up. It is left
// to itself then, after some time.
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
