package contend

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	line := Format("cycles", Values{"path": "/a", "for": "100"})
	assert.Equal(t, "cycles for=100 path=/a", line)
	verb, v, err := Parse(line)
	require.NoError(t, err)
	assert.Equal(t, "cycles", verb)
	assert.Equal(t, 100, v.Int("for"))
	assert.Zero(t, v.Int("n"))
	_, _, err = Parse("error no session")
	require.EqualError(t, err, "no session")
	_, _, err = Parse("ok what")
	require.Error(t, err)
}
