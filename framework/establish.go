package framework

import (
	"context"
	"time"
)

// establish waits until a server has accepted the credentials. The session is not
// usable before. If it fails, the session is over.
func (s *Session) establish(ctx context.Context) error {
	err := s.awaitAccepted(ctx)
	if err != nil {
		s.shutDown(err)
	}
	return err
}

func (s *Session) awaitAccepted(ctx context.Context) error {
	s.tasks.start(func() { s.supervise(s.ctx) })
	select {
	case <-s.gate.first.Done():
		return nil
	case err := <-s.refused:
		s.guard.NotReady(err)
		return err
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// closeLimit bounds how long Close waits for a server, failedCloseLimit how long a
// Connect that has failed does.
const (
	closeLimit       = time.Second
	failedCloseLimit = 50 * time.Millisecond
)

// shutDown ends the session here, for the reason given, and on the server.
func (s *Session) shutDown(cause error) {
	s.over(cause)
	limit, cancel := s.core.limitOfClose()
	defer cancel()
	s.guard.CloseOnServer(limit)
}

// limitOfClose bounds one step of an orderly end.
func (c *core) limitOfClose() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Duration(c.closeLimit.Load()))
}
