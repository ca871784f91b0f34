//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A pipeListener listens in virtual time.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// servedIn starts an exporter with its HTTP server in a World. It returns what connects
// to it, and what ends it and returns how long that took.
func servedIn(t *testing.T, w *conformance.World, args ...string) (dial func(send string) net.Conn, end func() time.Duration) {
	t.Helper()
	x, err := (&program{env: environ{envServers + "=" + w.Server.Addr()}}).newExporter(args)
	require.NoError(t, err)
	x.cfg.Dial, x.log = w.Server.Dial("exporter"), new(bytes.Buffer)
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.serve(ctx, l) }()
	<-x.connected
	dial = func(send string) net.Conn {
		mine, its := net.Pipe()
		t.Cleanup(func() { _ = mine.Close() })
		l.conns <- its
		go func() { _, _ = io.WriteString(mine, send) }()
		return mine
	}
	return dial, func() time.Duration {
		begun := time.Now()
		cancel()
		require.NoError(t, <-ended)
		return time.Since(begun)
	}
}

const getMetrics = "GET " + metricsPath + " HTTP/1.1\r\nHost: x\r\n"

// answerOf reads one answer.
func answerOf(t *testing.T, c net.Conn) string {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	return string(text)
}

// slowClients are what those send that then neither send nor read.
var slowClients = map[string]string{
	"nothing": "", "half a head": getMetrics, "no body": getMetrics + "Content-Length: 9\r\n\r\n", "no chunk": getMetrics + "Transfer-Encoding: chunked\r\n\r\n",
	"reads nothing": getMetrics + "\r\n", "reads nothing of 1.0": "GET " + metricsPath + " HTTP/1.0\r\n\r\n", "HEAD": strings.Replace(getMetrics, "GET", "HEAD", 1) + "\r\n",
}

// A client that is slow keeps its connection for half a minute at most, and keeps no
// other one from its answer.
func TestSlowClients(t *testing.T) {
	for name, sends := range slowClients {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				javaNode(t, w.Client("c"), "/locks/a/lock-")
				dial, end := servedIn(t, w)
				slow := dial(sends)
				time.Sleep(time.Second)
				require.Contains(t, answerOf(t, dial(getMetrics+"Connection: close\r\n\r\n")), "\nzkrecipes_exporter_up 1\n")
				time.Sleep(30 * time.Second)
				_ = slow.SetReadDeadline(time.Now().Add(time.Millisecond))
				_, err := io.Copy(io.Discard, slow)
				require.NoError(t, err, "it has been closed")
				require.Less(t, end(), time.Second)
			})
		})
	}
}

// They keep it from ending as long as a scrape may.
func TestEndWithSlowClients(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		dial, end := servedIn(t, w)
		for _, sends := range slowClients {
			dial(sends)
		}
		time.Sleep(time.Second)
		require.LessOrEqual(t, end(), scrapeGrace+100*time.Millisecond)
	})
}

// No limit for clients is shorter than the longest scrape.
func TestLongScrape(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		javaNode(t, w.Client("c"), strings.Repeat("/deep", 25)+"/lock-")
		dial, end := servedIn(t, w, "--timeout", "1m")
		w.Server.On(zktest.OpGetChildren2, "/").Client("exporter").Always().Before().Delay(2 * time.Second)
		begun := time.Now()
		require.Contains(t, answerOf(t, dial(getMetrics+"Connection: close\r\n\r\n")), "\nzkrecipes_exporter_up 1\n")
		require.Greater(t, time.Since(begun), 50*time.Second)
		require.Less(t, end(), time.Second)
	})
}

// A thousand scrapes, of which some are given up, leave nothing behind.
func TestManyScrapesLeaveNothing(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		javaNode(t, w.Client("c"), "/locks/a/lock-")
		dial, end := servedIn(t, w, "--litter")
		synctest.Wait()
		before := runtime.NumGoroutine()
		for i := range 1000 {
			c := dial(getMetrics + "Connection: close\r\n\r\n")
			if i%10 != 0 {
				require.Contains(t, answerOf(t, c), "\nzkrecipes_exporter_up 1\n")
			}
			require.NoError(t, c.Close())
		}
		synctest.Wait()
		require.Less(t, runtime.NumGoroutine(), before+50, "those that are ending count, too")
		require.Less(t, end(), time.Second)
	})
}
