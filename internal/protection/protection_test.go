package protection_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/protection"
)

func newID(t *testing.T) protection.ID {
	t.Helper()
	id, err := protection.New(rand.Reader)
	require.NoError(t, err)
	return id
}

func TestIDMarksItsOwnNamesOnly(t *testing.T) {
	t.Parallel()
	id, other := newID(t), newID(t)
	name := "_c_" + string(id[:]) + "-lock-0000000001"
	assert.True(t, id.Marks(name))
	assert.False(t, other.Marks(name))
	got, ok := protection.Of(name)
	assert.True(t, ok)
	assert.Equal(t, id, got)
	// Curator's class for ids writes them in lower case, others need not.
	_, ok = protection.Of("_c_" + strings.ToUpper(string(id[:])) + "-lock-0000000001")
	assert.True(t, ok)

	for _, foreign := range []string{
		"", "_c_", "_c_x", "lock-0000000001", "_c_" + string(id[:]), "_c_" + string(id[:]) + "lock", "_c_" + string(id[1:]) + "-lock",
		"_c_" + string(id[:]) + "x-lock", string(id[:]) + "-lock", "x_c_" + string(id[:]) + "-lock",
		"_c_" + strings.ReplaceAll(string(id[:]), "-", "") + "-lock-0000000001", // go-zookeeper's own form
	} {
		assert.False(t, id.Marks(foreign), foreign)
		if foreign != "_c_"+string(id[:])+"-lock" {
			_, ok := protection.Of(foreign)
			assert.False(t, ok, foreign)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, seed := range []string{"", "_c_x", "_c_01234567-89ab-4def-8123-456789abcdef-lock-0000000001", "_c_é1234567-89ab-4def-8123-456789abcde-x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if id, ok := protection.Of(name); ok {
			assert.True(t, id.Marks(name))
			assert.Len(t, string(id[:]), 36)
		}
	})
}
