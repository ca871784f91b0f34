package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// CloseOnServer ends the session, which is over here, on the server, in the time that ctx
// gives: over the connection that there is, or else as Bury does.
func (g *Guard) CloseOnServer(ctx context.Context) {
	defer g.Seal()
	if c := g.Live(); c != nil && c.sendClose(ctx) == nil {
		select {
		case <-g.closed.Done():
			return
		case <-c.gone.Done():
		case <-ctx.Done():
		}
	}
	if !g.closed.Given() { // the server hangs up after its answer
		g.Seal()
		_, _ = g.buryOnce(ctx)
	}
}

// Bury closes a session on the server that is over here but may live there. It
// begins when the server could have expired the session by itself, so that work
// under its leases has the time to stop that it was promised, and tries until a
// server has answered or must have expired it.
func (g *Guard) Bury(ctx context.Context) {
	timeout := g.Timeout()
	ctx, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	if retry.Sleep(ctx, time.Until(g.TrustedUntil())+stopMargin(timeout)) != nil {
		return
	}
	for ctx.Err() == nil {
		closed, err := g.buryOnce(ctx)
		if err == nil {
			g.cfg.Logger.Debug("closed lost session on the server", "session", fmt.Sprintf("0x%x", uint64(g.ID())), "alive", closed)
			return
		}
		_ = retry.Sleep(ctx, min(timeout/8, time.Second))
	}
}

// buryOnce re-attaches a session by hand and closes it. closed is false if the
// server no longer knew it.
func (g *Guard) buryOnce(ctx context.Context) (closed bool, err error) {
	if g.ID() == 0 {
		return false, nil
	}
	err = errNowhere
	for _, t := range g.servers.lookUp(ctx) {
		if closed, err = g.buryAt(ctx, t); err == nil {
			return closed, nil
		}
	}
	return false, err
}

var errNowhere = errors.New("no address is known")

func (g *Guard) buryAt(ctx context.Context, t target) (closed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.handshakeLimit())
	defer cancel()
	conn, err := g.servers.dial(ctx, t)
	if err != nil {
		return false, err
	}
	defer g.servers.callbacks.hangUp(conn)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(longAgo) })
	defer stop()
	if _, err := conn.Write(connectRequest(g.ID(), g.password, int32(g.Timeout().Milliseconds()), g.zxid.Load())); err != nil {
		return false, err
	}
	body, err := readFrame(conn)
	if err != nil {
		return false, err
	}
	r, err := parseConnectReply(body)
	switch {
	case err != nil:
		return false, err
	case r.session != g.ID():
		return false, nil
	}
	if _, err := conn.Write(newMessage(xidClose, opClose).done()); err != nil {
		return false, err
	}
	_, err = readFrame(conn)
	return true, err
}

// readFrame reads one frame's body, of at most 64 KiB.
func readFrame(conn net.Conn) ([]byte, error) {
	head := make([]byte, frameHeader)
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil, err
	}
	n := int(be32(head))
	if n < 0 || n > 64<<10 {
		return nil, errShortFrame
	}
	body := make([]byte, n)
	_, err := io.ReadFull(conn, body)
	return body, err
}
