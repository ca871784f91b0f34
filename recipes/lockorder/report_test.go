package lockorder_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
)

var calls, places = regexp.MustCompile(`(?m)(\n    .*)+`), regexp.MustCompile(`/\S*/(\w+\.go):\d+`)

// brief returns a report with the first call of each stack, and without what depends on
// the machine.
func brief(c lockorder.Cycle) string {
	return calls.ReplaceAllStringFunc(c.String(), func(stack string) string {
		first, _, _ := strings.Cut(stack[1:], "\n")
		return "\n" + places.ReplaceAllString(first, "$1")
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	onSite(t, func(t *testing.T, s *site) {
		s.nest(s.mutex("a"), s.rw("b").Read())
		s.beside(s.rw("b").Write(), s.mutex("a"))
		s.nest(s.permits("odd\u202ename"), s.permits("odd\u202ename"))
		require.Equal(t, strings.ReplaceAll(`lock order: /locks/a, then /locks/b, then /locks/a again
  wanted: reader /locks/b
    MUST
  while held: mutex /locks/a
    MUST
  wanted: mutex /locks/a
    MUST
  while held: writer /locks/b, by the same goroutine and not by the context
    MUST`, "MUST", "github.com/zkrecipes/zkrecipes/recipes/lockorder_test.(*site).must (world_test.go)"), brief(s.reported[0]))
		require.Contains(t, s.reported[1].String(), "lock order: /locks/odd\\u202ename, then /locks/odd\\u202ename again\n")
		step := s.reported[0].Steps[0]
		require.Equal(t, []any{"/locks/a", "mutex", "/locks/b", "reader", false}, []any{
			step.Held, step.HeldRecipe, step.Wanted, step.WantedRecipe, step.ByGoroutine,
		})
		require.Equal(t, "github.com/zkrecipes/zkrecipes/recipes/lockorder_test.(*site).must", step.HeldBy[0].Function)
	})
}

// All calls of a stack are those of the program, and a deep one is cut.
func TestStacks(t *testing.T) {
	t.Parallel()
	onSite(t, func(t *testing.T, s *site) {
		m := s.mutex("m")
		require.NoError(t, lease.Do(t.Context(), s.mutex("a"), lease.Forever, func(ctx context.Context, _ *lease.Lease) error {
			return lease.Do(ctx, m, lease.Forever, func(ctx context.Context, _ *lease.Lease) error { return nil })
		}))
		deep(30, func() { s.nest(s.mutexes("ma")...) })
		deep(30, func() { s.beside(s.mutexes("xm")...) })
		deep(30, func() { s.beside(s.mutexes("mx")...) })
		require.Len(t, s.reported, 2)
		require.Contains(t, s.reported[0].Steps[0].WantedBy[0].Function, "TestStacks")
		require.True(t, slices.ContainsFunc(s.reported[0].Steps[0].WantedBy, func(f runtime.Frame) bool {
			return strings.HasSuffix(f.Function, "lease.Do")
		}), "further out the calls of the library count")
		require.Contains(t, s.reported[0].Steps[0].HeldBy[0].Function, "TestStacks")
		text := s.reported[1].String()
		require.Equal(t, 1+4*(1+8+1), 1+strings.Count(text, "\n"), text)
		require.Regexp(t, `\n    and \d+ more$`, text)
	})
}

func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
}

func TestDefaultIsToLog(t *testing.T) { //nolint:paralleltest // it changes the default logger
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	order := lockorder.New(nil)
	observer := order.Observer()
	ctx := observer.HoldStarted(t.Context(), framework.HoldInfo{Recipe: "mutex", Path: "/a", Lock: "/a", Node: "/a/1"})
	observer.AcquireStarted(t.Context(), framework.AcquireInfo{Recipe: "mutex", Path: "/a", Lock: "/a", Timeout: 1})
	observer.HoldEnded(ctx, framework.HoldEnd{HoldInfo: framework.HoldInfo{Node: "/a/1"}})
	require.Len(t, order.Cycles(), 1)
	require.Contains(t, log.String(), `level=WARN msg="locks are acquired in inconsistent order" cycle="lock order: /a, then /a again\n`)
}

// What is remembered is bounded.
func TestBounds(t *testing.T) {
	t.Parallel()
	reported := 0
	order := lockorder.New(func(lockorder.Cycle) { reported++ })
	observer := order.Observer()
	under := func(held, wanted string) {
		h := framework.HoldInfo{Path: held, Lock: held, Node: held + "/1"}
		ctx := observer.HoldStarted(t.Context(), h)
		observer.AcquireStarted(t.Context(), framework.AcquireInfo{Path: wanted, Lock: wanted, Timeout: 1})
		observer.HoldEnded(ctx, framework.HoldEnd{HoldInfo: h})
	}
	for i := range 1<<16 + 10 {
		under(fmt.Sprint("/", i), "/x")
	}
	orders := lockorder.Orders(order)
	require.Len(t, orders, 1<<16)
	require.Equal(t, "/10>/x", orders[0])
	for i := range 1<<10 + 10 {
		under(fmt.Sprint("/", i), fmt.Sprint("/", i))
	}
	require.Len(t, order.Cycles(), 1<<10)
	require.Equal(t, 1<<10, reported)
}

// A report may use the checker, and a hold whose start was not seen may end.
func TestReportUsesTheChecker(t *testing.T) {
	t.Parallel()
	var order *lockorder.Checker
	seen := 0
	order = lockorder.New(func(lockorder.Cycle) { seen = len(order.Cycles()) })
	observer := order.Observer()
	observer.HoldEnded(t.Context(), framework.HoldEnd{})
	observer.HoldStarted(t.Context(), framework.HoldInfo{Path: "/a", Lock: "/a", Node: "/a/1"})
	observer.AcquireStarted(t.Context(), framework.AcquireInfo{Path: "/a", Lock: "/a", Timeout: 1})
	require.Equal(t, 1, seen)
}

// A Checker keeps a bounded number of cycles.
func TestManyCycles(t *testing.T) {
	t.Parallel()
	reported := 0
	order := lockorder.New(func(lockorder.Cycle) { reported++ })
	o, ctx := order.Observer(), t.Context()
	nest := func(outer, inner string) {
		held := framework.HoldInfo{Lock: outer, Path: outer, Node: outer}
		o.HoldStarted(ctx, held)
		o.AcquireStarted(ctx, framework.AcquireInfo{Lock: inner, Path: inner, Timeout: time.Minute})
		o.HoldEnded(ctx, framework.HoldEnd{HoldInfo: held})
	}
	const most = 1024
	for i := range most + 10 {
		a, b := fmt.Sprint("/a/", i), fmt.Sprint("/b/", i)
		nest(a, b)
		nest(b, a)
	}
	require.Equal(t, most, reported)
	require.Len(t, order.Cycles(), most)
}
