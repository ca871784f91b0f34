package main

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/zktest"
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
	return scenes[3:] // after three lines of introduction
}

// show runs the scenes in virtual time, and returns the output.
func show(t *testing.T, work time.Duration) string {
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, run(t.Context(), &out, work, zktest.WithNetwork(new(zktest.Network))))
	})
	return out.String()
}

func TestWhatIsShown(t *testing.T) {
	out := show(t, 100*time.Millisecond)
	t.Log(out)
	scenes := said(token.ReplaceAllString(out, "token N"))
	require.Len(t, scenes, 4)

	assert.Equal(t, []string{
		"ann holds the mutex, token N", "bob waits, 1 ahead", "carl waits, 2 ahead", "dora waits, 3 ahead", "ann is done",
		"bob holds the mutex, token N", "bob is done", "carl holds the mutex, token N", "carl is done", "dora holds the mutex, token N", "dora is done",
	}, scenes[0])
	assert.Equal(t, []string{
		"ann holds the mutex, token N", "ann holds it twice, token N", "ann still holds it after the inner release: true",
	}, scenes[1])
	require.Len(t, scenes[2], 2)
	assert.Regexp(t, `^bob gets an error: /locks/orders: not acquired in time: waited 100ms, 1 ahead, held by ann \(.*`, scenes[2][1])

	require.Len(t, scenes[3], 7)
	assert.Regexp(t, `^ann stops: lease lost: .*session lost: not proved to live by the trust deadline`, scenes[3][3])
	assert.Equal(t, []string{
		"ann holds the mutex, token N, with work for an hour", "bob waits, 1 ahead", "network cuts ann off from the server",
		scenes[3][3], "ann Release returns lease.ErrLost: true", "bob holds the mutex, token N", "bob is done",
	}, scenes[3])
}

func TestTokensNeverShrink(t *testing.T) {
	last := 0
	for _, scene := range said(show(t, time.Millisecond)) {
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
	ctx, cancel := context.WithCancel(t.Context())
	var out interruptible
	out.after, out.stop = "bob      waits", cancel
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
