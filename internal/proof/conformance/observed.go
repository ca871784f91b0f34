package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An ObserverLog records the events of observers, and checks what framework.Observer
// promises: the order, and that whatever starts ends once.
type ObserverLog struct {
	mu       sync.Mutex
	last     int            // number of what has started last
	open     map[int]string // what has started and not ended
	granted  map[string]int // slots for which no hold has started yet, by recipe and path
	cleanups map[string]int // that are pending, by path
	events   []any
	wrong    []string
}

// A startedKey is the key of the number of an acquire, or of a hold, in its context.
type startedKey struct {
	log  *ObserverLog
	what string
}

// Observer returns the observer that records. Several clients can have it.
func (l *ObserverLog) Observer() framework.Observer {
	return framework.Observer{
		RequestEnded:   l.requestEnded,
		CleanupStarted: func(path string) { l.clean(path, 1) },
		CleanupEnded:   func(path string, _ error) { l.clean(path, -1) },
		AcquireStarted: func(ctx context.Context, a framework.AcquireInfo) context.Context {
			return l.started(ctx, "acquire", a)
		},
		AcquireEnded: l.acquireEnded,
		HoldStarted:  l.holdStarted,
		HoldEnded:    l.holdEnded,
	}
}

func (l *ObserverLog) lock() (unlock func()) {
	l.mu.Lock()
	if l.open == nil {
		l.open, l.granted, l.cleanups = map[int]string{}, map[string]int{}, map[string]int{}
	}
	return l.mu.Unlock
}

func (l *ObserverLog) expect(ok bool, format string, args ...any) {
	if !ok {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}

func (l *ObserverLog) started(ctx context.Context, what string, event any) context.Context {
	defer l.lock()()
	l.last++
	l.open[l.last] = fmt.Sprintf("%s %+v", what, event)
	l.events = append(l.events, event)
	return context.WithValue(ctx, startedKey{l, what}, l.last)
}

// ended is called under the lock.
func (l *ObserverLog) ended(ctx context.Context, what string, event any) {
	number, _ := ctx.Value(startedKey{l, what}).(int)
	_, open := l.open[number]
	l.expect(open, "ended twice, or never started: %s %+v", what, event)
	delete(l.open, number)
	l.events = append(l.events, event)
}

func (l *ObserverLog) requestEnded(ctx context.Context, r framework.Request) {
	defer l.lock()()
	l.expect(r.Attempt > 0 && r.Op != "" && r.Path != "", "request %+v", r)
	if number, ok := ctx.Value(startedKey{l, "acquire"}).(int); ok {
		_, open := l.open[number]
		l.expect(open, "a request of an acquire that has ended: %+v", r)
	}
}

func (l *ObserverLog) clean(path string, change int) {
	defer l.lock()()
	if l.cleanups[path] += change; l.cleanups[path] == 0 {
		delete(l.cleanups, path)
	}
	l.expect(l.cleanups[path] >= 0, "clean-up of %s ended before it started", path)
}

func (l *ObserverLog) acquireEnded(ctx context.Context, e framework.AcquireEnd) {
	defer l.lock()()
	l.ended(ctx, "acquire", e)
	if e.Err == nil && !e.Reentered {
		l.granted[e.Recipe+e.Path]++
	}
	l.expect(e.Waited >= e.HandOver && e.HandOver >= 0 && (e.Err == nil || e.HandOver == 0), "times of %+v", e)
}

func (l *ObserverLog) holdStarted(ctx context.Context, h framework.HoldInfo) context.Context {
	unlock := l.lock()
	l.expect(l.granted[h.Recipe+h.Path] > 0, "a hold before its acquire has ended: %+v", h)
	l.granted[h.Recipe+h.Path]--
	l.expect(strings.HasPrefix(h.Node, h.Path+"/") && h.Session != 0 && h.Token > 0 && h.Permits > 0, "hold %+v", h)
	unlock()
	return l.started(ctx, "hold", h)
}

func (l *ObserverLog) holdEnded(ctx context.Context, e framework.HoldEnd) {
	defer l.lock()()
	l.ended(ctx, "hold", e)
	var loss *lease.LossError
	l.expect(e.Err == nil || errors.As(e.Err, &loss) || errors.Is(e.Err, framework.ErrNoAuth), "end of a hold: %v", e.Err)
	l.expect(loss == nil || loss.Token == lease.Token(e.Token), "loss of another hold: %v", e.Err)
}

// Wrong returns what was not as promised, once all clients are closed and all acquires
// have returned.
func (l *ObserverLog) Wrong() []string {
	defer l.lock()()
	wrong := slices.Clone(l.wrong)
	for _, what := range slices.Sorted(maps.Values(l.open)) {
		wrong = append(wrong, "has not ended: "+what)
	}
	for path := range l.cleanups {
		wrong = append(wrong, "clean-up has not ended: "+path)
	}
	for key, n := range l.granted {
		if n != 0 {
			wrong = append(wrong, fmt.Sprintf("%d grants without a hold: %s", n, key))
		}
	}
	return wrong
}

// Events returns the starts and ends of acquires and holds, in order.
func (l *ObserverLog) Events() []any {
	defer l.lock()()
	return slices.Clone(l.events)
}
