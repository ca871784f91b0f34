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

// said returns what was said in each scene, without the time.
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
	return scenes[2:] // after two lines of greeting
}

func TestWhatIsShown(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, 100*time.Millisecond))
	t.Log(out.String())
	scenes := said(token.ReplaceAllString(out.String(), "token N"))
	require.Len(t, scenes, 4)

	assert.Equal(t, []string{
		"ann holds it, token N", "bob waits, 1 ahead", "eve waits, 2 ahead", "max waits, 3 ahead", "ann is done",
		"bob holds it, token N", "bob is done", "eve holds it, token N", "eve is done", "max holds it, token N", "max is done",
	}, scenes[0])
	assert.Equal(t, []string{"ann holds it, token N", "ann holds it twice, token N", "ann holds it once: true"}, scenes[1])
	require.Len(t, scenes[2], 2)
	// Who is in the way is known only if the server had time to say so.
	assert.Regexp(t, `^bob gives up: /locks/orders: not acquired in time: waited \S+s(, 1 ahead, held by (ann \(|node _c_).*)?$`, scenes[2][1])

	// What ann and bob say is not in a certain order from here on.
	require.Len(t, scenes[3], 7)
	assert.Equal(t, []string{
		"ann holds it, token N, and works for an hour", "bob waits, 1 ahead", "server expires ann's session",
	}, scenes[3][:3])
	rest := strings.Join(scenes[3], "\n")
	assert.Contains(t, rest, "ann stops: lease lost: ")
	assert.Contains(t, rest, "session lost: expired by the server")
	assert.Contains(t, rest, "ann releases, and is told that it was lost: true")
	assert.Contains(t, rest, "bob holds it, token N")
}

func TestTokensNeverShrink(t *testing.T) {
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

// An interrupt ends it at once, with nothing left running.
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
