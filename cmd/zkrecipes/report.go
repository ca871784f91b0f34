package main

import (
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A reporter tells the user of a job what happens, as text or as JSON. It is safe for
// concurrent use and never blocks: a terminal that somebody has stopped with Ctrl-S
// must not keep a command from being killed.
type reporter struct {
	lock        string // the path
	what        string // is held there
	json, quiet bool

	lines chan []byte
	last  chan struct{} // closed when no more lines count
	done  chan struct{} // closed when all is written
}

const (
	reportBacklog = 256 // lines; what is more is dropped
	flushLimit    = time.Second
)

func newReporter(out io.Writer, lock string, asJSON, quiet bool) *reporter {
	r := &reporter{
		lock: lock, what: "lock", json: asJSON, quiet: quiet,
		lines: make(chan []byte, reportBacklog), last: make(chan struct{}), done: make(chan struct{}),
	}
	go func() {
		defer close(r.done)
		for line := range r.pending() {
			_, _ = out.Write(line) // nobody is left to be told if it fails
		}
	}()
	return r
}

// pending yields the lines until close was called and there are no more.
func (r *reporter) pending() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for more := true; more; {
			select {
			case line := <-r.lines:
				more = yield(line)
				continue
			default:
			}
			select {
			case line := <-r.lines:
				more = yield(line)
			case <-r.last:
				more = len(r.lines) > 0
			}
		}
	}
}

// close waits for what was reported to be written, but not for ever. What is reported
// after it is lost.
func (r *reporter) close() {
	close(r.last)
	select {
	case <-r.done:
	case <-time.After(flushLimit):
	}
}

// note reports what is good to know; --quiet silences it.
func (r *reporter) info(e event, format string, args ...any) {
	if !r.quiet {
		r.warn(e, format, args...)
	}
}

// alarm reports what must be known. An empty format is for events that are worth a line
// to a program only.
func (r *reporter) warn(e event, format string, args ...any) {
	line := []byte("zkrecipes: " + quote.Line(fmt.Sprintf(format, args...)))
	if r.json {
		e.Time, e.Lock = time.Now().UTC().Truncate(time.Millisecond), r.lock
		line, _ = quote.JSON(e, "") // strings, numbers and times always can be
	} else if format == "" {
		return
	}
	select {
	case r.lines <- append(line, '\n'):
	default:
	}
}

// clock writes a moment as a person at a terminal wants it.
func clock(t time.Time) string { return t.Format("15:04:05.000") }

// seconds writes a duration as a number for JSON, in milliseconds precision.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
