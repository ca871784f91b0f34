package framework

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// A handshake that grants less may be all that is heard on a connection. What waits for the
// deadline of the former timeout must not go on waiting.
func TestALesserTimeoutIsHeededAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)), zktest.WithSessionTimeouts(time.Second, time.Hour))
		c, err := Connect(t.Context(), Config{Servers: []string{server.Addr()}, Dial: server.Dial("a"), SessionTimeout: time.Hour, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s := c.Session()
		server.Partition("a", true)
		time.Sleep(time.Second)
		const less = 6 * time.Second
		s.established(s.ID(), less, time.Now())
		began := time.Now()
		<-s.Done()
		if took := time.Since(began); took > less || !errors.Is(s.Err(), ErrTrustExpired) {
			t.Errorf("the session was over after %v: %v", took, s.Err())
		}
	})
}
