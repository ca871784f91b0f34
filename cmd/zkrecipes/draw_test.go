//go:build unix

package main

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A typescript keeps what was written to a terminal, or to a file, and can be read
// meanwhile.
type typescript struct {
	mu      sync.Mutex
	written bytes.Buffer
}

func (s *typescript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.Write(p)
}

func (s *typescript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String()
}

// A line that is drawn again takes the place of the one before; all others begin behind
// it. Nothing is drawn after endLine.
func TestDrawnLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := newReporter(&out, "/l", false, false)
		require.False(t, r.drawsLines())
		r.foreground = func() bool { return true }
		require.True(t, r.drawsLines())
		step := func(do func(), writes string) {
			t.Helper()
			out.Reset()
			do()
			synctest.Wait()
			require.Equal(t, writes, out.String())
		}
		step(r.endLine, "")
		step(func() { r.draw("one") }, "\rzkrecipes: one\x1b[K")
		step(func() { r.draw("two\x1b") }, "\rzkrecipes: two\\x1b\x1b[K")
		step(func() { r.info(event{}, "news") }, "\nzkrecipes: news\n")
		step(func() { r.draw("three") }, "\rzkrecipes: three\x1b[K")
		step(r.endLine, "\n")
		step(r.endLine, "")
		r.close()
	})
}

// A stoppedTerminal is one that was stopped with Ctrl-S.
type stoppedTerminal struct {
	io.Writer
	resumed chan struct{}
}

func (b stoppedTerminal) Write(p []byte) (int, error) {
	<-b.resumed
	return b.Writer.Write(p)
}

// A terminal that is stopped delays nobody, and when it goes on, what is out of date is
// not written: a command may have written there.
func TestDrawingOnATerminalThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stopped := stoppedTerminal{&out, make(chan struct{})}
		r := newReporter(stopped, "/l", false, false)
		begin := time.Now()
		r.info(event{}, "before")
		synctest.Wait()
		for range 2 * reportBacklog {
			r.draw("waiting")
		}
		r.endLine()
		r.info(event{}, "acquired")
		require.Equal(t, begin, time.Now())
		close(stopped.resumed)
		r.close()
		require.Equal(t, "zkrecipes: before\nzkrecipes: acquired\n", out.String())
	})
}

func TestShortenToFive(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""}, {"12345", "12345"}, {"123456", "1234…"}, {"日本", "日本"}, {"日本語", "日本…"}, {"1日本語", "1日…"},
	} {
		require.Equal(t, test.want, shorten(test.text, 5))
	}
}
