package contend

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// open is a system whose locks exclude no one.
type open struct{}

func (open) locker(string, string, int) (locker, error) { return open{}, nil }
func (open) queued(string) (int, error)                 { return -1, nil }
func (open) acquire() error                             { return nil }
func (open) release() error                             { return nil }
func (open) close()                                     {}

func TestCyclesFindBrokenLocks(t *testing.T) {
	slots, err := OpenSlots(filepath.Join(t.TempDir(), "slots"))
	require.NoError(t, err)
	c := &contender{system: open{}, slots: slots}
	for _, kind := range []string{"mutex", "semaphore", "readwrite"} {
		answer := c.answer("cycles kind=" + kind + " goroutines=32 for=300 dwell=1000 path=/p")
		word, v, err := Parse(answer)
		require.NoError(t, err)
		assert.Equal(t, "ok", word)
		assert.Positive(t, v.Int("violations"), "%s: %s", kind, answer)
		assert.GreaterOrEqual(t, v.Int("all"), v.Int("ops"))
	}
	assert.Contains(t, c.answer("juggle n=3"), "error no order")
}
