package contend

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each list of holders is at the same time on one path, in two processes in turn: here
// each has the file in memory once.
func TestSlotsFindHoldersAtTheSameTime(t *testing.T) {
	eleven := []string{"semaphore"}
	for len(eleven) < permits+1 {
		eleven = append(eleven, "semaphore")
	}
	for name, c := range map[string]struct {
		kinds      []string
		violations int64
	}{
		"one mutex":           {[]string{"mutex"}, 0},
		"two mutexes":         {[]string{"mutex", "mutex"}, 1},
		"all permits":         {eleven[1:], 0},
		"a permit too many":   {eleven, 1},
		"two readers":         {[]string{"read", "read"}, 0},
		"a reader, a writer":  {[]string{"read", "write"}, 1},
		"a writer, a reader":  {[]string{"write", "read"}, 1},
		"two writers":         {[]string{"write", "write"}, 1},
		"two leaders, a heir": {[]string{"leader", "leader", "leader"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "slots")
			var both [2]*Slots
			for i := range both {
				var err error
				both[i], err = OpenSlots(file)
				require.NoError(t, err)
			}
			for i, kind := range c.kinds {
				both[i%2].enter(7, kind)
				both[i%2].hold(8, kind, 0, 0) // another path
			}
			for i, kind := range c.kinds {
				both[i%2].leave(7, kind)
			}
			assert.Equal(t, c.violations, both[0].violations.Load()+both[1].violations.Load())
			assert.Zero(t, *both[0].at(7), "nobody is left")
			both[0].enter(7, "mutex")
			both[1].Clear()
			assert.Zero(t, *both[0].at(7))
		})
	}
}

// The tokens of holders that exclude each other grow, over all processes.
func TestSlotsFindTokensThatDoNotGrow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "slots")
	a, err := OpenSlots(file)
	require.NoError(t, err)
	b, err := OpenSlots(file)
	require.NoError(t, err)
	a.hold(0, "mutex", 5, 0)
	b.hold(0, "mutex", 6, 0)
	a.hold(0, "mutex", 0, 0) // has none
	require.Zero(t, a.violations.Load()+b.violations.Load())
	a.hold(0, "mutex", 6, 0)
	b.hold(0, "mutex", 4, 0)
	assert.EqualValues(t, 1, a.violations.Load())
	assert.EqualValues(t, 1, b.violations.Load())
	b.Clear()
	a.hold(0, "mutex", 1, 0)
	assert.EqualValues(t, 1, a.violations.Load(), "those of another run do not count")
}
