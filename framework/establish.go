package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// establish waits for the first attachment and presents the credentials. The session is
// not usable before.
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
		before := s.guard.Live()
		for i, cred := range s.core.cfg.Auth {
			if err := s.present(ctx, cred); err != nil {
				return fmt.Errorf("credential %d, scheme %q: %w", i+1, cred.Scheme, err)
			}
		}
		// The library presents the credentials again on every later connection. It
		// forgets one if the connection breaks between the answer and its recording it.
		// So all must have been accepted over one connection.
		if len(s.core.cfg.Auth) == 0 || (before != nil && before == s.guard.Live()) {
			return nil
		}
	}
}

// present presents one credential, and repeats that while the outcome is unknown.
func (s *Session) present(ctx context.Context, cred Credential) error {
	pauses := retry.Exponential(10*time.Millisecond, time.Second).Start()
	for {
		_, _, err := send(ctx, s, "", request[struct{}]{send: func(s *Session, _ string) (struct{}, error) {
			return struct{}{}, s.conn.AddAuth(cred.Scheme, cred.Secret)
		}})
		switch over := cmp.Or(context.Cause(s.ctx), context.Cause(ctx)); {
		case err == nil:
			return nil
		case errors.Is(err, ErrAuthFailed):
			return ErrAuthFailed
		case over != nil:
			return over
		}
		d, _ := pauses.Next()
		if err := retry.Sleep(ctx, d); err != nil {
			return err
		}
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
