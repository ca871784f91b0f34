package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

var errTold = errors.New("told to end")

// A part is a service in virtual time, without its HTTP server.
type part struct {
	*service
	begins, ends chan error // of terms, with the cause
	stop         func()
}

// takesPart starts one that does nothing in its terms until it has to end them.
func takesPart(t *testing.T, server *zktest.Server, id string) part {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	p := part{begins: make(chan error, 9), ends: make(chan error, 9)}
	p.service = &service{path: "/leader", id: id, log: log, work: func(ctx context.Context, term *lease.Lease) error {
		p.begins <- term.Err()
		<-ctx.Done()
		p.ends <- context.Cause(ctx)
		return ctx.Err()
	}}
	client, err := framework.Connect(t.Context(), framework.Config{Servers: []string{server.Addr()}, Dial: server.Dial(id), Logger: log})
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(context.Background()) // not t.Context(), which may end before
	over := make(chan error, 1)
	go func() { over <- p.takePart(ctx, client) }()
	p.stop = sync.OnceFunc(func() {
		cancel(errTold)
		assert.ErrorIs(t, <-over, errTold)
		client.Close()
	})
	t.Cleanup(p.stop)
	return p
}

// probe returns the status with which an instance answers.
func probe(t *testing.T, s *service, path string) int {
	t.Helper()
	answer := httptest.NewRecorder()
	s.handler(t.Context()).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	return answer.Code
}

// A leader that is cut off from ZooKeeper ends its work before another leads, and
// campaigns again. Neither makes it unhealthy.
func TestLostLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		a := takesPart(t, server, "a")
		require.NoError(t, <-a.begins)
		b := takesPart(t, server, "b")
		synctest.Wait()
		server.Partition("a", true)
		require.NoError(t, <-b.begins)
		select {
		case cause := <-a.ends:
			require.ErrorIs(t, cause, lease.ErrLost)
		default:
			require.Fail(t, "b leads beside a")
		}
		for _, path := range []string{"/healthz", "/readyz", "/leader"} {
			require.Equal(t, http.StatusOK, probe(t, a.service, path), path)
		}
		server.Partition("a", false)
		b.stop()
		require.ErrorIs(t, <-b.ends, errTold)
		require.NoError(t, <-a.begins)
		a.stop()
		require.Empty(t, server.Sessions())
	})
}

// An instance that is told to end does the leader's work until it is done with that,
// and then another leads at once.
func TestHandOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		a := takesPart(t, server, "a")
		require.NoError(t, <-a.begins)
		b := takesPart(t, server, "b")
		synctest.Wait()
		told := time.Now()
		a.stop()
		require.NoError(t, <-b.begins)
		require.Less(t, time.Since(told), zktest.DefaultTick) // in virtual time: no session timeout
		require.ErrorIs(t, <-a.ends, errTold)
	})
}

// An instance whose work does not stop asks to be restarted, and only that.
func TestStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for takes, status := range map[time.Duration]int{stopTimeout - 1: http.StatusOK, stopTimeout + 1: http.StatusServiceUnavailable} {
			ctx, cancel := context.WithCancel(t.Context())
			var s *service
			s = &service{log: slog.New(slog.DiscardHandler), work: func(context.Context, *lease.Lease) error {
				time.Sleep(time.Hour)
				require.Equal(t, http.StatusOK, probe(t, s, "/healthz"))
				cancel()
				time.Sleep(takes)
				return nil
			}}
			require.NoError(t, s.lead(ctx, nil))
			synctest.Wait()
			require.Equal(t, status, probe(t, s, "/healthz"))
		}
	})
}

// Jobs are done at each interval, also after one that failed, until the term is over.
func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		term, control := leasetest.NewLease(t.Context())
		ctx, cancel := context.WithCancelCause(context.Background())
		jobs := 0
		work := every(time.Second, slog.New(slog.DiscardHandler), func(_ context.Context, token lease.Token) error {
			require.Equal(t, term.Token(), token)
			if jobs++; jobs == 3 {
				control.Lose(lease.ErrDeleted)                          // the lease is lost, and ctx, which knows that later, is not
				time.AfterFunc(time.Minute, func() { cancel(errTold) }) // until then
			}
			return errors.New("as it comes")
		})
		require.ErrorIs(t, work(ctx, term), errTold)
		require.Equal(t, 3, jobs)
	})
}

// An instance serves while it has not reached ZooKeeper, and ends when it is told to.
func TestWithoutZooKeeper(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	server.RefuseConnections("", true)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	s := &service{config: framework.Config{Servers: []string{server.Addr()}, Logger: log}, path: "/leader", log: log}
	ctx, cancel := context.WithCancelCause(t.Context())
	over := make(chan error, 1)
	go func() { over <- s.run(ctx, listener) }()
	p := &process{url: "http://" + listener.Addr().String()}
	_, err = p.get(t.Context(), "/healthz")
	require.NoError(t, err)
	for _, probe := range []string{"/readyz", "/leader"} {
		_, err = p.get(t.Context(), probe)
		require.ErrorContains(t, err, "503", probe)
	}
	cancel(errTold)
	require.NoError(t, <-over)
}
