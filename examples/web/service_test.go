package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// newTestService returns one in virtual time, whose requests wait for a minute.
func newTestService(t *testing.T, work time.Duration) (*service, *zktest.Server) {
	t.Helper()
	server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
	s, err := newService(t.Context(), framework.Config{
		Servers: []string{server.Addr()}, Dial: server.Dial("web"), Logger: slog.New(slog.DiscardHandler),
	}, newDatabase(work), time.Minute)
	require.NoError(t, err)
	t.Cleanup(func() { s.client.Close() })
	return s, server
}

// ask returns the answer to a request.
func (s *service) ask(ctx context.Context, method, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	s.handler().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader("a line")))
	return answer
}

// begin makes a request that is answered later.
func (s *service) begin(ctx context.Context) <-chan *httptest.ResponseRecorder {
	answer := make(chan *httptest.ResponseRecorder, 1)
	go func() { answer <- s.ask(ctx, http.MethodPost, "/orders/4711") }()
	synctest.Wait()
	return answer
}

// value returns the sum of series.
func (s *service) value(t *testing.T, metric, label string) float64 {
	t.Helper()
	return parse(s.ask(t.Context(), http.MethodGet, "/metrics").Body.String()).of(metric, label).sum()
}

// A request whose lock is lost stops working, and says that its end is not known.
func TestLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, server := newTestService(t, time.Hour)
		answer := s.begin(t.Context())
		require.InDelta(t, 1, s.value(t, "zkrecipes_holds", ""), 0)
		began := time.Now()
		require.True(t, server.ExpireSession(s.client.Session().ID()))
		require.Equal(t, http.StatusInternalServerError, (<-answer).Code)
		require.Less(t, time.Since(began), time.Minute)
		synctest.Wait()
		require.InDelta(t, 1, s.value(t, "zkrecipes_losses_total", ""), 0)
		require.InDelta(t, 0, s.value(t, "zkrecipes_holds", ""), 0)
	})
}

// A request that waits for too long, and one whose client has hung up, hold nothing.
func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, time.Hour)
		first := s.begin(t.Context())
		ctx, hangUp := context.WithCancel(t.Context())
		second, third := s.begin(ctx), s.begin(t.Context())
		require.InDelta(t, 2, s.value(t, "zkrecipes_acquires_waiting", ""), 0)
		hangUp()
		require.Empty(t, (<-second).Body.String())
		answer := <-third
		require.Equal(t, http.StatusServiceUnavailable, answer.Code)
		require.Equal(t, "1", answer.Header().Get("Retry-After"))
		require.Equal(t, http.StatusOK, (<-first).Code)
		synctest.Wait()
		for outcome, n := range map[string]float64{"granted": 1, "canceled": 1, "timeout": 1} {
			require.InDelta(t, n, s.value(t, "zkrecipes_acquire_wait_seconds_count", `outcome="`+outcome+`"`), 0, outcome)
		}
	})
}

// Without ZooKeeper it is healthy and not ready, and orders may be tried again.
func TestAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, server := newTestService(t, 0)
		require.Equal(t, http.StatusOK, s.ask(t.Context(), http.MethodGet, "/readyz").Code)
		server.RefuseConnections("web", true)
		server.DropConnections("web")
		synctest.Wait()
		require.Equal(t, http.StatusOK, s.ask(t.Context(), http.MethodGet, "/healthz").Code)
		require.Equal(t, http.StatusServiceUnavailable, s.ask(t.Context(), http.MethodGet, "/readyz").Code)
		require.Equal(t, "1", (<-s.begin(t.Context())).Header().Get("Retry-After"))
		s.client.Close()
		require.Equal(t, "1", (<-s.begin(t.Context())).Header().Get("Retry-After"))
	})
}

// A body that is too large is refused before anything is locked.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	new(orders).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders/4711", strings.NewReader(strings.Repeat("x", maxBody+1))))
	require.Equal(t, http.StatusBadRequest, answer.Code)
}

// A SIGTERM does not cut off requests that are under way.
func TestShutdown(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	waits := make(chan struct{})
	s, err := newService(t.Context(), framework.Config{
		Servers: []string{server.Addr()}, Logger: slog.New(slog.DiscardHandler),
		Observers: []framework.Observer{{AcquireStarted: func(context.Context, framework.AcquireInfo) context.Context {
			close(waits)
			return nil
		}}},
	}, newDatabase(0), time.Minute)
	require.NoError(t, err)
	release, err := lock(t.Context(), []string{server.Addr()}, "4711")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	urls, over := make(chan string, 1), make(chan error, 1)
	go func() { over <- s.listen(ctx, "127.0.0.1:0", func(url string) { urls <- url }) }()
	traffic := newTraffic(<-urls)
	defer traffic.transport.CloseIdleConnections()
	answered := make(chan int, 1)
	go func() {
		status, _, _ := traffic.do(t.Context(), http.MethodPost, "/orders/4711", io.Discard)
		answered <- status
	}()
	<-waits
	stop()
	for refused := false; !refused; { // no further connections
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(traffic.url, "http://"))
		if refused = err != nil; !refused {
			conn.Close()
		}
	}
	release()
	require.Equal(t, http.StatusOK, <-answered)
	require.NoError(t, <-over)
	require.Empty(t, server.Sessions())
}
