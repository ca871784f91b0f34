package lease_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// hostile forges a log line, clears the screen and reverses the direction of writing.
const hostile = "x\n2026-11-21 19:00:00 INFO payment 4711 approved by admin\x1b[2J\u202e\u2028\xff"

// hostilePath is a path that servers accept all the same.
const hostilePath = "/locks/a\u202eb\u2028c"

// requireOneLine fails unless a text is one line of a sensible length, in which nothing
// acts on a terminal or hides.
func requireOneLine(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text), "%.200q", text)
	require.Negative(t, strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "%.200q", text)
	require.Less(t, len(text), 3000, "%.200q", text)
}

// Labels and node names of unrelated clients are raw in fields, and harmless in every
// text.
func TestForeignTextIsHarmless(t *testing.T) {
	says, err := json.Marshal(map[string]any{"who": hostile, "host": hostile, "pid": 7})
	require.NoError(t, err)
	huge, err := json.Marshal(map[string]any{"who": strings.Repeat("y", 500<<10), "host": strings.Repeat("z\n", 100<<10)})
	require.NoError(t, err)
	for name, data := range map[string][]byte{"hostile": says, "huge": huge, "silent": nil} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				large := func(cfg *framework.Config) { cfg.MaxRequestBytes, cfg.MaxReplyBytes = 0, 0 }
				a, other := w.Client("a", large), w.Client("other", large)
				require.NoError(t, other.CreateParents(t.Context(), hostilePath+"/x"))
				node, err := other.Create(t.Context(), hostilePath+"/\u202e\u200b-lock-0000000000", data, framework.Ephemeral)
				require.NoError(t, err)
				m, err := mutex.New(a, hostilePath)
				require.NoError(t, err)
				for _, timeout := range []time.Duration{0, time.Second} {
					_, err = m.Acquire(t.Context(), timeout)
					require.ErrorIs(t, err, lease.ErrTimeout)
					requireOneLine(t, err.Error())
				}
				var timeout *lease.TimeoutError
				require.ErrorAs(t, err, &timeout)
				require.Equal(t, hostilePath, timeout.Path)
				require.Equal(t, "\u202e\u200b-lock-0000000000", timeout.Node)
				list, err := m.Contenders(t.Context())
				require.NoError(t, err)
				require.Len(t, list, 1)
				require.Equal(t, list[0].Holder, timeout.Holder)
				switch name {
				case "hostile":
					require.Equal(t, strings.ToValidUTF8(hostile, "\ufffd"), timeout.Holder.Who, "as it was written")
				case "huge":
					require.Len(t, timeout.Holder.Who, 500<<10)
				}
				requireOneLine(t, list[0].String())
				requireOneLine(t, timeout.Holder.String())
				requireOneLine(t, lease.Holder{Who: hostile}.String())
				w.Remove(other, node.Path)
				for _, text := range everyText(t, w, a, hostilePath) {
					requireOneLine(t, text)
				}
			})
		})
	}
}

// everyText provokes every text of recipes about a path.
func everyText(t *testing.T, w *conformance.World, c *framework.Client, path string) (texts []string) {
	t.Helper()
	say := func(err error) {
		t.Helper()
		require.Error(t, err)
		texts = append(texts, err.Error())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m, err := mutex.New(c, path)
	require.NoError(t, err)
	held := w.Acquire(m)
	_, err = m.Acquire(ended, 0)
	say(err)
	_, err = m.Acquire(func() context.Context { ctx, stop := context.WithCancel(held.Context()); stop(); return ctx }(), 0)
	say(err)
	_, err = m.Contenders(ended)
	say(err)
	say(held.Confirm(ended))
	require.NoError(t, held.Release())
	say(held.Err())
	held = lasting(w, m)
	w.Remove(w.Client("operator"), held.Path())
	w.After(time.Second)
	say(held.Err())
	say(lease.RequestRevocation(t.Context(), c, path))
	say(lease.RequestRevocation(t.Context(), c, path+"/lock-0000000007"))

	made, err := c.Create(t.Context(), path+"/lock-", nil, framework.PersistentSequential)
	require.NoError(t, err)
	say(lease.RequestRevocation(t.Context(), c, made.Path))
	w.Remove(c, made.Path)
	held = w.Acquire(m)
	w.Server.On(zktest.OpSetData, held.Path()).Before().Fail(zktest.NoAuth)
	say(lease.RequestRevocation(t.Context(), c, held.Path()))
	require.NoError(t, held.Release())
	cfg := conformance.Config(w.Server, "other")
	cfg.Namespace = path[1:] + "/none"
	w.Server.On(zktest.OpCreate, path).Client("other").Before().Fail(zktest.NoAuth)
	_, err = framework.Connect(t.Context(), cfg)
	say(err)

	l, err := rwlock.New(c, path)
	require.NoError(t, err)
	reading := w.Acquire(l.Read())
	_, err = l.Write().Acquire(reading.Context(), 0)
	say(err)
	forbidden := w.Server.On(zktest.OpDelete, path+"/_c_")
	forbidden.Before().Fail(zktest.NoAuth)
	say(reading.Release())
	w.Remove(c, reading.Path())

	s, err := semaphore.New(c, path+"/s", 0)
	require.NoError(t, err)
	_, err = s.Size(t.Context())
	say(err)
	say(s.Resize(ended, 3))
	_, err = s.Available(ended)
	say(err)
	_, err = s.Weight(0).Acquire(t.Context(), 0)
	say(err)
	_, err = s.Weight(1<<40).Acquire(t.Context(), 0)
	say(err)

	e, err := leader.New(c, path)
	require.NoError(t, err)
	_, _, err = e.Leader(ended)
	say(err)
	say(e.Lead(t.Context(), nil))
	for _, err := range e.Observe(ended) {
		say(err)
	}
	for _, invalid := range []func() error{
		func() error { _, err := mutex.New(c, path, mutex.WithMaxHold(-1)); return err },
		func() error { _, err := mutex.New(c, path, mutex.WithHolder(strings.Repeat("\n", 1025))); return err },
		func() error { _, err := mutex.New(nil, path); return err },
		func() error { _, err := mutex.New(c, path+"/"+strings.Repeat("\n", 500<<10)); return err },
		func() error { _, err := semaphore.New(c, path, -1); return err },
		func() error { _, err := leader.New(c, path, leader.WithID(hostile)); return err },
		func() error { _, err := leader.New(c, path, leader.WithID(hostile[:10]+"__REVOKE__")); return err },
		func() error { _, _, err := c.Get(t.Context(), path+"/none"); return err },
		func() error { return c.CreateParents(ended, path+"/none/none") },
		func() error { _, err := c.Namespace("/" + hostile); return err },
	} {
		say(invalid())
	}
	return texts
}

// A label has a limit, for each recipe.
func TestLabelsAreLimited(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for name, make := range map[string]func(label string) error{
			"mutex":                func(label string) error { _, err := mutex.New(c, "/x", mutex.WithHolder(label)); return err },
			"rwlock":               func(label string) error { _, err := rwlock.New(c, "/x", rwlock.WithHolder(label)); return err },
			"semaphore":            func(label string) error { _, err := semaphore.New(c, "/x", 1, semaphore.WithHolder(label)); return err },
			"leader":               func(label string) error { _, err := leader.New(c, "/x", leader.WithID(label)); return err },
			"leader, by its label": func(label string) error { _, err := leader.New(c, "/x", leader.WithHolder(label)); return err },
		} {
			require.NoError(t, make(strings.Repeat("x", 1024)), name)
			err := make(strings.Repeat("x", 1025))
			require.ErrorIs(t, err, framework.ErrInvalidArgument, name)
			require.ErrorContains(t, err, strings.Split(name, ",")[0]+" /x: ")
		}
	})
}

// A log handler that quotes nothing, like many.
type plainHandler struct {
	slog.Handler
	mu    *sync.Mutex
	lines *[]string
	attrs string
}

func (h plainHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += " " + a.String()
	}
	return h
}

func (h plainHandler) Handle(_ context.Context, r slog.Record) error {
	line := r.Message + h.attrs
	r.Attrs(func(a slog.Attr) bool { line += fmt.Sprintf(" %s=%v", a.Key, a.Value.Any()); return true })
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.lines = append(*h.lines, line)
	return nil
}

func TestLogLinesAreHarmless(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var mu sync.Mutex
		var lines []string
		c := w.Client("a", func(cfg *framework.Config) { cfg.Logger = slog.New(plainHandler{mu: &mu, lines: &lines}) })
		id := strings.ToValidUTF8(hostile, "?")
		e, err := leader.New(c, hostilePath, leader.WithID(id))
		require.NoError(t, err)
		stop := errors.New("done")
		require.ErrorIs(t, e.Lead(t.Context(), func(context.Context, *lease.Lease) error { return fmt.Errorf("%w: %w", leader.ErrStop, stop) }), stop)
		// A clean-up is refused, of a node that was made after the caller left.
		m, err := mutex.New(c, hostilePath)
		require.NoError(t, err)
		w.Server.On(zktest.OpCreate, hostilePath+"/_c_").After().Delay(time.Second)
		w.Server.On(zktest.OpDelete, hostilePath+"/_c_").Before().Fail(zktest.NoAuth)
		_, err = m.Acquire(t.Context(), 100*time.Millisecond)
		require.ErrorIs(t, err, lease.ErrTimeout)
		w.After(time.Minute)
		w.Settle()
		mu.Lock()
		logged := slices.Clone(lines)
		mu.Unlock()
		text := strings.Join(logged, "")
		for _, want := range []string{"leading", "clean-up failed", "resigned"} {
			require.Contains(t, text, want)
		}
		for _, line := range logged {
			requireOneLine(t, line)
		}
		for _, node := range w.Ephemerals(hostilePath) {
			w.Remove(c, node)
		}
	})
}
