package framework

import (
	"context"
	"time"
)

// establish waits until a server has accepted the credentials. The session is not
// usable before.
func (s *Session) establish(ctx context.Context) error {
	s.tasks.start(func() { s.supervise(s.ctx) })
	select {
	case <-s.gate.first.Done():
		return nil
	case err := <-s.refused:
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
	limit, cancel := context.WithTimeout(context.Background(), time.Duration(s.core.closeLimit.Load()))
	defer cancel()
	s.guard.CloseOnServer(limit)
}
