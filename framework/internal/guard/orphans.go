package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/retry"
)

// CloseOnServer closes the session, which is over in this process, on the server, until
// ctx ends. It uses the present connection, or else a new one as CloseOrphan does.
func (g *Guard) CloseOnServer(ctx context.Context) {
	if c := g.Live(); c != nil && c.post(closeRequest()) { // nothing else is sent after it
		select {
		case <-g.closed.Done():
		case <-c.gone.Done():
		case <-ctx.Done():
		}
	}
	g.Seal()
	if !g.closed.Given() { // the server closes the connection after its answer
		_, _ = g.closeOrphanOnce(ctx)
	}
}

// CloseOrphan closes a session on the server that is over in this process but may still
// live there. It waits until the server could have expired the session by itself, so
// that work under its leases has the time to stop that it was promised. Then it tries
// until a server has answered or must have expired the session.
func (g *Guard) CloseOrphan(ctx context.Context) {
	timeout := g.Timeout()
	ctx, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	for wait := time.Until(g.TrustedUntil()) + stopMargin(timeout); retry.Sleep(ctx, wait) == nil; wait = min(timeout/8, time.Second) {
		if closed, err := g.closeOrphanOnce(ctx); err == nil {
			g.cfg.Logger.Debug("closed lost session on the server", "session", fmt.Sprintf("0x%x", uint64(g.ID())), "alive", closed)
			return
		}
	}
}

// closeOrphanOnce re-attaches a session by hand and closes it. closed is false if the
// server no longer knew the session.
func (g *Guard) closeOrphanOnce(ctx context.Context) (closed bool, err error) {
	if g.ID() == 0 {
		return false, nil
	}
	err = errNowhere
	for _, t := range g.servers.lookUp(ctx) {
		if closed, err = g.closeOrphanAt(ctx, t); err == nil {
			return closed, nil
		}
	}
	return false, err
}

var errNowhere = errors.New("no address is known")

func (g *Guard) closeOrphanAt(ctx context.Context, t target) (closed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.handshakeLimit())
	defer cancel()
	conn, err := g.servers.dial(ctx, t)
	if err != nil {
		return false, err
	}
	defer g.servers.closeAside(conn)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(longAgo) })
	defer stop()
	body, err := exchangeFrames(conn, connectRequest(g.ID(), g.password, int32(g.Timeout().Milliseconds()), g.zxid.Load()))
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
	_, err = exchangeFrames(conn, closeRequest())
	return true, err
}

// exchangeFrames sends a frame and returns the body of the next one, at most 64 KiB.
func exchangeFrames(conn net.Conn, frame []byte) ([]byte, error) {
	if _, err := conn.Write(frame); err != nil {
		return nil, err
	}
	return jute.ReadFrame(conn, 64<<10)
}
