package integration

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// scraped returns what an exporter serves.
func scraped(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(within(t, limit), http.MethodGet, url, nil)
	require.NoError(t, err)
	r.Close = true
	r.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", "10")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", text)
	return string(text)
}

// awaitScrape scrapes until a series is there, and returns all.
func awaitScrape(t *testing.T, url, series string) string {
	t.Helper()
	for ctx := within(t, limit); ; {
		if text := scraped(t, url); strings.Contains(text, series) {
			return text
		}
		select {
		case <-ctx.Done():
			require.Fail(t, "not served", "%s", series)
		case <-time.After(20 * time.Millisecond): // no event tells of another process's grant
		}
	}
}

// Who holds it, since when, and how many wait, of a real server. When the server is
// gone that is said at once, and when it is back all is there again.
func TestExporterOfARealServer(t *testing.T) {
	servers, server := single(t)
	const path = "/locks/orders"
	begun := time.Now()
	holder := startCommand(t, server, "run", "--lock", path, "--label", `night "shift"`, "--", "sh", "-c", child)
	var pid, token int
	_, err := fmt.Sscan(holder.line(t), &pid, &token)
	require.NoError(t, err)
	m := newMutex(t, connect(t, server), path)
	acquired := make(chan *lease.Lease, 2)
	for range 2 {
		go func() {
			held, err := m.Acquire(within(t, 2*limit), lease.Forever)
			assert.NoError(t, err)
			acquired <- held
		}()
	}
	exporter := startCommand(t, server, "exporter", "--address", "127.0.0.1:0", "--holder-after", "1s", "--litter", "--session-timeout", "4s")
	url := exporter.line(t)
	of := `{path="/locks/orders",recipe="lock"`
	awaitScrape(t, url, "zkrecipes_lock_waiting"+of+"} 2\n")
	text := awaitScrape(t, url, "zkrecipes_lock_holder")
	assert.Contains(t, text, "zkrecipes_lock_holding"+of+"} 1\n")
	assert.Regexp(t, regexp.QuoteMeta("zkrecipes_lock_holder"+of+`,holder="night \"shift\"",host="`)+`[^"]+",pid="`+strconv.Itoa(holder.command.Process.Pid)+`"} 1`, text)
	since := regexp.MustCompile(`zkrecipes_lock_held_since_timestamp_seconds\{[^}]*\} ([0-9.]+)\n`).FindStringSubmatch(text)
	require.NotNil(t, since, text)
	seconds, err := strconv.ParseFloat(since[1], 64)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, seconds, float64(begun.Unix()), "since when")
	assert.LessOrEqual(t, seconds, float64(time.Now().Unix()+1))
	assert.Contains(t, text, "zkrecipes_locks_waiters{recipe=\"lock\"} 2\n")
	assert.Contains(t, text, "zkrecipes_litter{kind=\"not-ephemeral\"} 0\n")

	require.NoError(t, holder.stdin.Close())
	require.Equal(t, 0, holder.exit(t), "%s", &holder.stderr)
	held := <-acquired
	text = awaitScrape(t, url, "zkrecipes_lock_waiting"+of+"} 1\n")
	assert.NotContains(t, text, "shift")
	require.NoError(t, held.Release())
	held = <-acquired
	awaitScrape(t, url, "zkrecipes_lock_waiting"+of+"} 0\n")
	require.NoError(t, held.Release())
	awaitScrape(t, url, "zkrecipes_locks_in_use{recipe=\"lock\"} 0\n")

	require.NoError(t, servers.Node(0).Kill())
	awaitScrape(t, url, "zkrecipes_exporter_up 0\n")
	asked := time.Now()
	require.NotContains(t, scraped(t, url), "zkrecipes_locks_in_use")
	assert.Less(t, time.Since(asked), 9*time.Second, "less than a scrape may take")
	require.NoError(t, servers.Node(0).Start(within(t, limit)))
	awaitScrape(t, url, "zkrecipes_exporter_up 1\n")
	require.NoError(t, exporter.command.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 0, exporter.exit(t), "%s", &exporter.stderr)
	assert.Contains(t, exporter.stderr.String(), "no metrics: ")
	assert.Contains(t, exporter.stderr.String(), "metrics again")
}
