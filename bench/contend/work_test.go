package contend

import (
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// brief is a system whose locks are lost after some writes.
type brief struct {
	open
	left atomic.Int64
}

func (s *brief) keep(string) (func() bool, error) {
	return func() bool { return s.left.Add(-1) >= 0 }, nil
}

func TestJobStopsWhenTold(t *testing.T) {
	slots, err := OpenSlots(filepath.Join(t.TempDir(), "slots"))
	require.NoError(t, err)
	s := &brief{}
	s.left.Store(3)
	c := &contender{system: s, slots: slots}
	assert.Contains(t, c.answer("stopped limit=1"), "error")
	_, v, err := Parse(c.answer("work path=/p"))
	require.NoError(t, err)
	at := v.Int("at")
	assert.Positive(t, at)
	_, v, err = Parse(c.answer("stopped limit=60000 since=" + strconv.Itoa(at-1)))
	require.NoError(t, err)
	assert.Equal(t, 3, v.Int("late"))
	assert.Greater(t, v.Int("knew"), v.Int("last"))
	_, v, err = Parse(c.answer("stopped limit=60000 since=" + v["last"]))
	require.NoError(t, err)
	assert.Zero(t, v.Int("late"))
	assert.Contains(t, (&contender{system: open{}, slots: slots}).answer("work path=/p"), "error")
}
