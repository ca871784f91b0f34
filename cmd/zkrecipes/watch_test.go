//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// looking runs a watch in a bubble of virtual time until it ends, or for so long.
func looking(t *testing.T, forSo time.Duration, w *watch) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), forSo)
	defer cancel()
	return w.run(ctx)
}

var errNoServer = unanswered("no server answers in this test")

// However long a look takes, the next one begins after it, and not sooner than the
// interval after it has begun.
func TestLooksAreOneAfterAnother(t *testing.T) {
	for _, takes := range []time.Duration{0, time.Second, 2*time.Second + 1, 5 * time.Second, 11 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var atATime atomic.Int32
			var began []time.Time
			err := looking(t, time.Minute, &watch{
				interval: 2 * time.Second,
				look: func(ctx context.Context) (*listing, error) {
					require.EqualValues(t, 1, atATime.Add(1))
					defer atATime.Add(-1)
					began = append(began, time.Now())
					select {
					case <-time.After(takes):
						return &listing{}, nil
					case <-ctx.Done():
						return nil, context.Cause(ctx)
					}
				},
				show: func(sight) error { return nil },
			})
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(began), 6)
			for i := range began[1:] {
				require.GreaterOrEqual(t, began[i+1].Sub(began[i]), max(2*time.Second, takes))
				require.LessOrEqual(t, began[i+1].Sub(began[i]), takes+2*time.Second)
			}
		})
	}
}

// What was seen is not shown as fresh while no server answers: not when a look fails,
// and not while it only takes long.
func TestSilenceIsShown(t *testing.T) {
	for name, silence := range map[string]func(ctx context.Context) error{
		"a look fails": func(context.Context) error { return errNoServer },
		"a look takes long": func(ctx context.Context) error {
			ctx, cancel := context.WithTimeoutCause(ctx, 9*time.Second, errNoServer)
			defer cancel()
			<-ctx.Done()
			return context.Cause(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var silent, answered int
				err := looking(t, 40*time.Second, &watch{
					interval: time.Second,
					look: func(ctx context.Context) (*listing, error) {
						if since := time.Since(start); since >= 10*time.Second && since < 20*time.Second {
							return nil, silence(ctx)
						}
						return &listing{}, nil
					},
					show: func(s sight) error {
						if at := s.now.Sub(start); at > 12*time.Second && at < 20*time.Second {
							require.True(t, s.silent, at)
							require.Equal(t, 9*time.Second, s.last.at.Sub(start).Round(time.Second), "that of the last answer")
							silent++
						} else if at < 10*time.Second || at > 30*time.Second {
							require.False(t, s.silent, at)
							require.Equal(t, s.now, s.last.at)
							answered++
						}
						return nil
					},
				})
				require.NoError(t, err)
				require.GreaterOrEqual(t, silent, 7, "it is drawn again, as the silence grows")
				require.GreaterOrEqual(t, answered, 18)
			})
		})
	}
}

// A slow answer is no missing one, even if looks are to be more frequent.
func TestSlowAnswersAreNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := looking(t, time.Minute, &watch{
			interval: 100 * time.Millisecond,
			look:     func(context.Context) (*listing, error) { time.Sleep(1900 * time.Millisecond); return &listing{}, nil },
			show:     func(s sight) error { require.False(t, s.silent); return nil },
		})
		require.NoError(t, err)
	})
}

// A watch that has not seen anything, or may not look any more, ends.
func TestEndOfAWatch(t *testing.T) {
	unwritable := errors.New("the pipe is closed")
	for name, test := range map[string]struct {
		looks []error // the last one is repeated
		shown error
		want  error
	}{
		"the first look is not answered":  {looks: []error{errNoServer}, want: errNoServer},
		"not permitted any more":          {looks: []error{nil, nil, framework.ErrNoAuth}, want: framework.ErrNoAuth},
		"the answer has become too large": {looks: []error{nil, framework.ErrReplyTooLarge}, want: framework.ErrReplyTooLarge},
		"what is seen cannot be written":  {looks: []error{nil}, shown: unwritable, want: unwritable},
		"a session is lost":               {looks: []error{nil, framework.ErrSessionLost, nil}},
		"a signal":                        {looks: []error{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				err := looking(t, time.Minute, &watch{
					interval: time.Second,
					look: func(context.Context) (*listing, error) {
						err := test.looks[min(n, len(test.looks)-1)]
						n++
						return &listing{}, err
					},
					show: func(sight) error { return test.shown },
				})
				require.ErrorIs(t, err, test.want)
			})
		})
	}
}

// Nor does the end wait for a look that is not answered.
func TestEndDoesNotWaitForALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, looked := time.Now(), false
		err := looking(t, time.Hour, &watch{
			interval: time.Second,
			look: func(ctx context.Context) (*listing, error) {
				if looked {
					<-ctx.Done()
				}
				looked = true
				return &listing{}, context.Cause(ctx)
			},
			show: func(s sight) error {
				if s.silent {
					return errFake
				}
				return nil
			},
		})
		require.ErrorIs(t, err, errFake)
		require.Less(t, time.Since(start), 5*time.Second)
	})
}

// seen returns what a watch prints to a file for some sights.
func seen(t *testing.T, f *lsFlags, as format, sights ...sight) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(name)
	require.NoError(t, err)
	defer out.Close()
	show, end := (&program{stdout: out}).viewer(f, testLock, as)
	for _, s := range sights {
		require.NoError(t, show(s))
	}
	end()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// A file gets a block when something has changed, and ages are nothing.
func TestOnlyChangesArePrinted(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(seconds int, state string) sight {
		l := ordinary()
		l.Queue = l.Queue[:1]
		l.Queue[0].State, l.Queue[0].Age = inspect.State(state), float64(seconds)
		now := at.Add(time.Duration(seconds) * time.Second)
		return sight{last: look{listing: l, at: now}, now: now}
	}
	silent := after(4, "waiting")
	silent.silent, silent.now = true, at.Add(9*time.Second)
	later := silent
	later.now = later.now.Add(time.Minute)
	sights := []sight{after(0, "held"), after(2, "held"), after(4, "waiting"), silent, later, after(100, "waiting")}

	text := seen(t, &lsFlags{}, asTable, sights...)
	blocks := strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n")
	require.Len(t, blocks, 4, text)
	require.Contains(t, blocks[0], "2026-01-02T03:04:05Z\nPOS ")
	require.Contains(t, blocks[1], "2026-01-02T03:04:09Z\nPOS ")
	require.Equal(t, "2026-01-02T03:04:14Z\nno answer since 2026-01-02T03:04:09Z", blocks[2])
	require.Contains(t, blocks[3], "2026-01-02T03:05:45Z\nPOS ", "it is true again")

	lines := strings.Split(strings.TrimSuffix(seen(t, &lsFlags{}, asJSON, sights...), "\n"), "\n")
	require.Len(t, lines, 4)
	var line watchLine
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &line))
	require.Equal(t, inspect.Waiting, line.Listing.Queue[0].State)
	require.Nil(t, line.Silent)
	require.JSONEq(t, `{"time": "2026-01-02T03:04:14Z", "no_answer_since": "2026-01-02T03:04:09Z", "listing": null}`, lines[2])
}

// The lines at the top stay: what a window has no rows for is counted at its end.
func TestScreenIsNotScrolled(t *testing.T) {
	on := page{columns: 10, rows: 4}
	require.Equal(t, []string{"a", "b", "c", "d"}, on.firstRows([]string{"a", "b", "c", "d"}))
	require.Equal(t, []string{"a", "b", "c", "and 2 more lines: make the window larger"}, on.firstRows([]string{"a", "b", "c", "d", "e"}))
	long := strings.Repeat("x", 11)
	require.Equal(t, []string{"a", long, "d"}, on.firstRows([]string{"a", long, "d"}))
	require.Equal(t, []string{"a", "b", "and 2 more lines: make the window larger"}, on.firstRows([]string{"a", "b", long, "d"}))
	coloured := page{colour: true}.paint(red, "xxxxxxxxxx")
	require.Equal(t, []string{coloured, coloured, coloured, coloured}, on.firstRows([]string{coloured, coloured, coloured, coloured}))
}

// In a process of its own: it goes on in another session, and a signal ends it well.
func TestWatchOutlivesItsSession(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	holder := connectClient(t, server)
	m, err := mutex.New(holder, testLock, mutex.WithHolder("nightly"))
	require.NoError(t, err)
	held, err := m.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	p := start(t, server, "ls", testLock, "--watch", "--interval", "20ms", "--json")
	next := func() (l watchLine) {
		t.Helper()
		for l.Listing == nil { // while the session is made again a look may be unanswered
			require.NoError(t, json.Unmarshal([]byte(p.line()), &l))
		}
		return l
	}
	require.Equal(t, "nightly", next().Listing.Queue[0].Who)
	for _, s := range server.Sessions() {
		if s.ID != holder.Session().ID() {
			require.True(t, server.ExpireSession(s.ID))
		}
	}
	require.NoError(t, held.Release())
	for len(next().Listing.Queue) > 0 {
	}
	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.end())
}

func TestWatchWithoutAServer(t *testing.T) {
	code, stdout, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, "ls", testLock, "--watch", "--timeout", "50ms")
	require.Equal(t, exitUnavailable, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "not connected to zookeeper") // the server may not have been tried yet
}
