//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// exporting starts an exporter as a process, and returns its URL too.
func exporting(t *testing.T, server *zktest.Server, args ...string) (p *started, url string) {
	t.Helper()
	p = start(t, server, append([]string{"exporter", "--address", "127.0.0.1:0"}, args...)...)
	url = p.line()
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/metrics$`, url)
	return p, strings.TrimSuffix(url, metricsPath)
}

// fetched requests a page without keeping the connection.
func fetched(t *testing.T, url string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

// awaitReady waits until an exporter is connected: a scrape does so too, but not for as
// long as a busy machine may need.
func awaitReady(t *testing.T, url string) {
	t.Helper()
	until(t, "it is connected", func() bool { status, _ := fetched(t, url+"/-/ready"); return status == http.StatusOK })
}

func TestExporter(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	c := connectClient(t, server)
	foreign(t, c, "/app/locks/one two", `{"who":"a \"b\"","host":"h","pid":7}`)
	foreign(t, c, "/app/locks/one two", "")
	foreign(t, c, "/app/elsewhere", "")
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		p, url := exporting(t, server, "/locks", "--servers", server.Addr()+"/app", "--holder-after", "0s", "--litter")
		awaitReady(t, url)
		status, body := fetched(t, url+metricsPath)
		require.Equal(t, http.StatusOK, status)
		read := parseScrape(t, body)
		of := []string{"path", "/locks/one two", "recipe", "lock"}
		require.Equal(t, 1, number(t, read, "zkrecipes_locks_in_use", "recipe", "lock"), "those below the path")
		require.Equal(t, 1, number(t, read, "zkrecipes_lock_waiting", of...))
		require.Equal(t, 1, number(t, read, "zkrecipes_lock_holder", append(of, "holder", `a "b"`, "host", "h", "pid", "7")...))
		require.InDelta(t, float64(time.Now().Unix()), value(t, read, "zkrecipes_lock_held_since_timestamp_seconds", of...), 60)
		require.Equal(t, 0, number(t, read, "zkrecipes_litter", "kind", "empty"))
		for path, want := range map[string]int{"/": 200, "/-/healthy": 200, "/-/ready": 200, "/x": 404, "/metrics/x": 404} {
			status, body = fetched(t, url+path)
			require.Equal(t, want, status, path)
			require.NotEmpty(t, body)
		}
		answer, err := http.Post(url+metricsPath, "text/plain", strings.NewReader("x")) //nolint:noctx // it is refused
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
		http.DefaultClient.CloseIdleConnections()
		p.signal(sig)
		require.Zero(t, p.end())
		require.Empty(t, p.said(0))
		require.Len(t, server.Sessions(), 1, "it has closed its own")
	}
}

// A scrape that is under way when it is to end may end, and one that would take long
// does not keep it.
func TestExporterThatEndsDuringAScrape(t *testing.T) {
	t.Parallel()
	for _, stays := range []bool{false, true} {
		server := zktest.NewServer(t)
		p, url := exporting(t, server)
		awaitReady(t, url)
		rule := server.On(zktest.OpGetChildren2, "/").Before()
		if stays {
			rule.Always().Mute() // on each connection
		} else {
			rule.Nth(1).Delay(flushLimit + 200*time.Millisecond) // much less than scrapeGrace
		}
		scraped := make(chan string, 1)
		go func() {
			answer, err := http.Get(url + metricsPath) //nolint:noctx // the end of the process ends it
			if err != nil {
				scraped <- ""
				return
			}
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			scraped <- string(text)
		}()
		<-rule.Fired()
		p.signal(syscall.SIGTERM)
		require.Zero(t, p.end())
		text := <-scraped
		if stays {
			require.Empty(t, text, "that ZooKeeper does not answer would be wrong")
		} else {
			require.Contains(t, text, "\nzkrecipes_exporter_up 1\n")
		}
		http.DefaultClient.CloseIdleConnections()
	}
}

func TestExporterThatCannotListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	code, stdout, stderr := invoke(t, nil, "exporter", "--servers", "x:1", "--address", taken.Addr().String())
	require.Equal(t, exitUnavailable, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "exporter: ")
	require.Contains(t, stderr, taken.Addr().String())
}

// Credentials that the servers refuse end it: nothing but its restart can help.
func TestExporterWhoseCredentialsAreRefused(t *testing.T) {
	server := zktest.NewServer(t)
	server.On(zktest.OpAuth, "").Fail(zktest.AuthFailed)
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr(), envAuth + "=digest:me:hunter2"}, "exporter", "--address", "127.0.0.1:0")
	require.Equal(t, exitNoPerm, code, stderr)
	require.Contains(t, stdout, "http://")
	require.NotContains(t, stderr, "hunter2")
}

func TestMistakesInExporter(t *testing.T) {
	for args, says := range map[string]string{
		"--limit -1": "--limit", "--limit x": "--limit", "--address x": "HOST:PORT", "--address :x": "port", "--address :70000": "port", "--address": "--address",
		"--holder-after -1s": "--holder-after", "--paths locks": "locks", "--paths /a,": "--paths", "--timeout 0": "--timeout", "a": "a", "/a /b": "/b", "--port 1": "--port",
	} {
		code, _, stderr := invoke(t, nil, append([]string{"exporter", "--servers", "x:1"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, code, "%s: %s", args, stderr)
		require.Contains(t, stderr, says, args)
	}
	code, _, stderr := invoke(t, nil, "exporter")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, envServers)
}

// All of it can be in a file, as for a systemd unit.
func TestExporterOfAFile(t *testing.T) {
	file := configured(t, "ZKRECIPES_SERVERS=a:1/app", "ZKRECIPES_ADDRESS=:9999", "ZKRECIPES_PATHS=/a/*,/b/*", "ZKRECIPES_LIMIT=7", "ZKRECIPES_HOLDER_AFTER=1m", "ZKRECIPES_LITTER=true")
	x, err := (&program{}).newExporter([]string{"/a", "--config", file})
	require.NoError(t, err)
	require.Equal(t, ":9999 /a /app/a 7 1m0s true /b/* other", fmt.Sprint(x.address, " ", x.path, " ", x.full, " ", x.view.limit, " ", x.view.holderAfter, " ", x.litter, " ", x.view.label("/b/x"), " ", x.view.label("/c")))
}
