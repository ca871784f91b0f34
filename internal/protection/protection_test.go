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

func TestIsOurs(t *testing.T) {
	t.Parallel()
	const ours = "_c_01234567-89ab-8def-8123-456789abcdef-latch-0000000001"
	assert.True(t, protection.IsOurs(ours))
	for range 100 {
		id := newID(t)
		assert.True(t, protection.IsOurs(id.Name("latch-0000000001")), "%s", id[:])
		assert.Contains(t, "89ab", string(id[19]), "the variant of RFC 9562")
	}
	foreign := map[string]string{
		"Curator":                     "_c_01234567-89ab-4def-8123-456789abcdef-latch-0000000001",
		"a UUID of time":              "_c_01234567-89ab-1def-8123-456789abcdef-latch-0000000001",
		"go-zookeeper":                "_c_0123456789ab8def8123456789abcdef-latch-0000000001",
		"no id":                       "latch-0000000001",
		"no name":                     "_c_01234567-89ab-8def-8123-456789abcdef",
		"nothing":                     "",
		"a prefix":                    "x_c_01234567-89ab-8def-8123-456789abcdef-latch-0000000001",
		"no prefix":                   "01234567-89ab-8def-8123-456789abcdef-latch-0000000001",
		"kazoo":                       "0123456789ab8def8123456789abcdef__lock__0000000001",
		"no hexadecimal digit":        "_c_g1234567-89ab-8def-8123-456789abcdef-latch-0000000001",
		"a hyphen in the wrong place": "_c_0123456-789ab-8def-8123-456789abcdef-latch-0000000001",
	}
	for what, name := range foreign {
		assert.False(t, protection.IsOurs(name), what)
	}
}
