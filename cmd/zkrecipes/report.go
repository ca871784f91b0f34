package main

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A reporter reports to the user of a job what happens, as text or as JSON. It is safe
// for concurrent use and never blocks: a terminal that was stopped with Ctrl-S must not
// delay the KILL of a command.
type reporter struct {
	paths       pathList            // what is locked
	what        string              // what is held there
	stripe      atomic.Pointer[int] // which one, if it is a stripe; nil if that is not known yet
	run         string              // its key or tick, if it is a run that is recorded
	json, quiet bool

	foreground func() bool            // whether it writes to a terminal that belongs to this process; nil: to none
	line       atomic.Pointer[string] // the next text of the line that is written again and again
	drawn      chan struct{}          // there is one

	lines chan []byte   // an empty one only ends that line
	last  chan struct{} // closed by close
	done  chan struct{} // closed when all lines are written
}

const (
	lineColumns   = 79       // of a line that is written again: the narrowest terminals have 80
	eraseRest     = "\x1b[K" // of the line before
	reportBacklog = 256      // lines; further ones are dropped
	flushLimit    = time.Second
)

func newReporter(out io.Writer, lock string, asJSON, quiet bool) *reporter {
	r := &reporter{
		paths: pathList{lock}, what: "lock", json: asJSON, quiet: quiet,
		drawn: make(chan struct{}, 1), lines: make(chan []byte, reportBacklog), last: make(chan struct{}), done: make(chan struct{}),
	}
	go func() {
		defer close(r.done)
		open := false // a line that is written again was written
		for line, again := range r.pending() {
			switch {
			case again:
				line = slices.Concat([]byte("\r"), line, []byte(eraseRest))
			case len(line) == 0 && !open:
				continue
			case open:
				line = slices.Concat([]byte("\n"), line)
			}
			open = again
			_, _ = out.Write(line) // if it fails there is no other way to report it
		}
	}()
	return r
}

// pending yields the lines until close was called and no line is left. again says that
// it takes the place of the one before, if that was one, too.
func (r *reporter) pending() iter.Seq2[[]byte, bool] {
	return func(yield func(line []byte, again bool) bool) {
		for more := true; more; {
			select {
			case line := <-r.lines:
				more = yield(line, false)
				continue
			default:
			}
			select {
			case line := <-r.lines:
				more = yield(line, false)
			case <-r.drawn:
				if line := r.line.Swap(nil); line != nil {
					more = yield([]byte(*line), true)
				}
			case <-r.last:
				more = len(r.lines) > 0
			}
		}
	}
}

// drawsLines reports whether draw may be used.
func (r *reporter) drawsLines() bool { return !r.json && r.foreground != nil && r.foreground() }

// draw writes a line of a terminal that takes the place of the one before, until
// another report or endLine. Of several that cannot be written yet, it keeps the last.
func (r *reporter) draw(text string) {
	line := shorten("zkrecipes: "+quote.Line(text), lineColumns)
	r.line.Store(&line)
	select {
	case r.drawn <- struct{}{}:
	default:
	}
}

// endLine leaves the line of draw as it is, if there is one. Nothing is written over it
// later, or over what a command writes then.
func (r *reporter) endLine() {
	r.line.Store(nil)
	r.send(nil)
}

// close waits until all lines are written, but at most flushLimit. Later reports are
// dropped.
func (r *reporter) close() {
	close(r.last)
	select {
	case <-r.done:
	case <-time.After(flushLimit):
	}
}

// info reports what is good to know; --quiet silences it.
func (r *reporter) info(e event, format string, args ...any) {
	if !r.quiet {
		r.warn(e, format, args...)
	}
}

// warn reports what must be known. With an empty format, the event is written only as
// JSON.
func (r *reporter) warn(e event, format string, args ...any) {
	line := []byte("zkrecipes: " + quote.Line(fmt.Sprintf(format, args...)))
	if r.json {
		line = r.inJSON(e)
	} else if format == "" {
		return
	}
	r.send(append(line, '\n'))
}

// send drops a line if too many wait to be written.
func (r *reporter) send(line []byte) {
	select {
	case r.lines <- line:
	default:
	}
}

// inJSON completes an event, and writes it as JSON.
func (r *reporter) inJSON(e event) []byte {
	e.Time, e.Lock, e.Locks = time.Now().UTC().Truncate(time.Millisecond), r.paths[0], r.paths
	e.Stripe, e.striped, e.Key = r.stripe.Load(), r.what == stripe, r.run
	line, _ := quote.JSON(e, "") // cannot fail for strings, numbers and times
	return line
}

// name names what is held, or to be held.
func (r *reporter) name() string {
	if number := r.stripe.Load(); number != nil {
		return stripeName(*number, r.paths[0])
	}
	if r.run != "" {
		return runName(r.run, r.paths[0])
	}
	return r.paths.String()
}

// either is name where a message is about one of several locks that is not known.
func (r *reporter) either() string {
	if len(r.paths) > 1 {
		return r.paths.either()
	}
	return r.name()
}

// nameWithKind is name, with what it is.
func (r *reporter) nameWithKind() string {
	if r.stripe.Load() != nil || r.run != "" {
		return r.name()
	}
	return r.what + " " + r.name()
}

// clock writes a time of day for a terminal.
func clock(t time.Time) string { return t.Format("15:04:05.000") }

// seconds writes a duration as a number for JSON, with milliseconds.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
