package framework

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/retry"
)

// establish waits for the first attachment and presents the credentials. The
// session is not usable before.
func (s *Session) establish(ctx context.Context) error {
	select {
	case <-s.gate.first.Done():
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.tasks.start(func() { s.supervise(s.ctx) })
	for {
		before := s.guard.live()
		for i, cred := range s.core.cfg.Auth {
			if err := s.present(ctx, cred); err != nil {
				return fmt.Errorf("config.Auth[%d]: scheme %q: %w", i, cred.Scheme, err)
			}
		}
		// The library presents on every later connection what it remembers, but
		// forgets a credential if the connection breaks between the answer and
		// its noting it. So all must have been accepted over one connection.
		if len(s.core.cfg.Auth) == 0 || (before != nil && before == s.guard.live()) {
			return nil
		}
	}
}

// present presents one credential, again and again while the outcome is unknown.
func (s *Session) present(ctx context.Context, cred Credential) error {
	pace := retry.Exponential(10*time.Millisecond, time.Second).Start()
	for {
		answer := make(chan error, 1)
		if !s.tasks.start(func() { answer <- s.conn.AddAuth(cred.Scheme, cred.Secret) }) {
			return context.Cause(s.ctx)
		}
		var err error
		select {
		case err = <-answer:
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err == nil {
			return nil
		}
		if errors.Is(err, zk.ErrAuthFailed) {
			return ErrAuthFailed
		}
		d, _ := pace.Next()
		if err := retry.Sleep(ctx, d); err != nil {
			return err
		}
	}
}

// closePatience bounds how long Close waits for a server, failedPatience how long
// a Connect that has failed does.
const (
	closePatience  = time.Second
	failedPatience = 50 * time.Millisecond
)

// shutDown ends the session here, for the reason given, and on the server.
func (s *Session) shutDown(cause error) {
	s.cancel(cause)
	s.gate.tell(gateEnded)
	s.watch.fireAll(Event{Type: EventSessionEnded, Err: context.Cause(s.ctx)})
	limit, cancel := context.WithTimeout(context.Background(), time.Duration(s.core.patience.Load()))
	defer cancel()
	defer s.guard.seal()
	s.guard.retire() // the library would attach anew when the server hangs up
	if c := s.guard.live(); c != nil && c.sendClose(limit) == nil {
		select {
		case <-s.guard.closed:
			return
		case <-c.gone:
		case <-limit.Done():
		}
	}
	select {
	case <-s.guard.closed: // the server hangs up after its answer
	default:
		s.guard.seal()
		_, _ = s.core.buryOnce(limit, s)
	}
}

// bury closes a session on the server that is over here but may live there. It
// begins when the server could have expired the session by itself, so that work
// under its leases has the time to stop that it was promised, and tries until a
// server has answered or must have expired it.
func (c *core) bury(s *Session) {
	_, _, timeout := s.guard.credentials()
	ctx, cancel := context.WithTimeout(c.ctx, 2*timeout)
	defer cancel()
	if retry.Sleep(ctx, time.Until(s.trust.until())+stopMargin(timeout)) != nil {
		return
	}
	for ctx.Err() == nil {
		closed, err := c.buryOnce(ctx, s)
		if err == nil {
			c.cfg.Logger.Debug("closed lost session on the server", "session", fmt.Sprintf("0x%x", uint64(s.ID())), "alive", closed)
			return
		}
		_ = retry.Sleep(ctx, min(timeout/8, time.Second))
	}
}

// buryOnce re-attaches a session by hand and closes it. closed is false if the
// server no longer knew it.
func (c *core) buryOnce(ctx context.Context, s *Session) (closed bool, err error) {
	id, password, timeout := s.guard.credentials()
	if id == 0 {
		return false, nil
	}
	for _, t := range c.book.lookUp(ctx) {
		if closed, err = c.buryAt(ctx, t, id, password, timeout, s.guard.zxid.Load()); err == nil {
			return closed, nil
		}
	}
	if err == nil {
		err = ErrNotConnected
	}
	return false, err
}

func (c *core) buryAt(ctx context.Context, t target, id int64, password []byte, timeout time.Duration, zxid int64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, min(timeout/6, 2*time.Second))
	defer cancel()
	conn, err := c.book.dial(ctx, t)
	if err != nil {
		return false, err
	}
	defer c.book.callbacks.hangUp(conn)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(longAgo) })
	defer stop()
	if _, err := conn.Write(connectRequest(id, password, int32(timeout.Milliseconds()), zxid)); err != nil {
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
	case r.session != id:
		return false, nil
	}
	if _, err := conn.Write(closeRequest()); err != nil {
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
