package main

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	clock = regexp.MustCompile(`^   \d+\.\d\ds  `)
	token = regexp.MustCompile(`token (\d+)`)
)

// said returns the lines of each scene, without the time.
func said(out string) (scenes [][]string) {
	for line := range strings.Lines(out) {
		switch {
		case clock.MatchString(line):
			last := &scenes[len(scenes)-1]
			*last = append(*last, strings.Join(strings.Fields(clock.ReplaceAllString(line, "")), " "))
		case line != "\n":
			scenes = append(scenes, nil)
		}
	}
	return scenes[2:] // after two lines of introduction
}

func TestWhatIsShown(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, 100*time.Millisecond))
	t.Log(out.String())
	scenes := said(token.ReplaceAllString(out.String(), "token N"))
	require.Len(t, scenes, 4)

	assert.Equal(t, []string{
		"ann holds the mutex, token N", "bob waits, 1 ahead", "carl waits, 2 ahead", "dora waits, 3 ahead", "ann is done",
		"bob holds the mutex, token N", "bob is done", "carl holds the mutex, token N", "carl is done", "dora holds the mutex, token N", "dora is done",
	}, scenes[0])
	assert.Equal(t, []string{"ann holds the mutex, token N", "ann holds it twice, token N", "ann holds it once again: true"}, scenes[1])
	require.Len(t, scenes[2], 2)
	// The holder is named only if the server had time to answer.
	assert.Regexp(t, `^bob gets an error: /locks/orders: not acquired in time: waited \S+s(, 1 ahead, held by (ann \(|node _c_).*)?$`, scenes[2][1])

	// From here on the lines of ann and bob may come in any order.
	require.Len(t, scenes[3], 7)
	assert.Equal(t, []string{
		"ann holds the mutex, token N, with work for an hour", "bob waits, 1 ahead", "server expires ann's session",
	}, scenes[3][:3])
	rest := strings.Join(scenes[3], "\n")
	assert.Contains(t, rest, "ann stops: lease lost: ")
	assert.Contains(t, rest, "session lost: expired by the server")
	assert.Contains(t, rest, "ann releases, and learns that it was lost: true")
	assert.Contains(t, rest, "bob holds the mutex, token N")
}

func TestTokensNcarlrShrink(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, time.Millisecond))
	last := 0
	for _, scene := range said(out.String()) {
		for _, line := range scene {
			found := token.FindStringSubmatch(line)
			if found == nil || strings.HasPrefix(line, "ann stops") {
				continue
			}
			n, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			if strings.Contains(line, "twice") {
				assert.Equal(t, last, n)
			} else {
				assert.Greater(t, n, last, line)
			}
			last = n
		}
	}
	assert.Positive(t, last)
}

// An interrupt ends the program at once, with nothing left running.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var out interruptible
	out.after, out.stop = "bob     waits", cancel
	require.ErrorIs(t, run(ctx, &out, time.Hour), context.Canceled)
}

// An interruptible calls stop when a text is written to it.
type interruptible struct {
	after string
	stop  func()
}

func (i *interruptible) Write(text []byte) (int, error) {
	if strings.Contains(string(text), i.after) {
		i.stop()
	}
	return len(text), nil
}
