package archtest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests in the files breach_* break the rules in small modules. They check that
// each breach is found at its place, and nothing else.

// sources maps file names to their text.
type sources map[string]string

func parse(t *testing.T, files sources) *module {
	t.Helper()
	m := newModule("example.com/m")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		require.NoError(t, m.add(name, []byte(files[name])))
	}
	return m
}

// expect compares violations with the beginnings of their texts.
func expect(t *testing.T, found []violation, want ...string) {
	t.Helper()
	require.Len(t, found, len(want), "%v", found)
	for i, v := range found {
		assert.True(t, strings.HasPrefix(v.String(), want[i]), "got:  %s\nwant: %s...", v, want[i])
		assert.NotEmpty(t, v.fix)
	}
}

// TestViolationsReadWell keeps the form that editors turn into a link.
func TestViolationsReadWell(t *testing.T) {
	t.Parallel()
	v := violation{"a/b.go", 7, "this is wrong", "do that"}
	assert.Equal(t, "a/b.go:7: this is wrong; do that", v.String())
}
