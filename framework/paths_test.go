package framework

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serverAccepts is how a server looks at a path: unit by unit of UTF-16, after bytes
// that are not UTF-8 have become U+FFFD (PathUtils.validatePath, release 3.8.0).
func serverAccepts(path string, sequential bool) bool {
	if sequential {
		path += "1"
	}
	c := utf16.Encode([]rune(path))
	if len(c) == 0 || c[0] != '/' {
		return false
	}
	if len(c) == 1 {
		return true
	}
	if c[len(c)-1] == '/' {
		return false
	}
	for i := 1; i < len(c); i++ {
		ends := i+1 == len(c) || c[i+1] == '/'
		switch {
		case c[i] == 0,
			c[i] == '/' && c[i-1] == '/',
			c[i] == '.' && c[i-1] == '.' && c[i-2] == '/' && ends,
			c[i] == '.' && c[i-1] == '/' && ends,
			c[i] <= 0x1f, c[i] >= 0x7f && c[i] <= 0x9f, c[i] >= 0xd800 && c[i] <= 0xf8ff, c[i] >= 0xfff0:
			return false
		}
	}
	return true
}

// checkPath compares the two checks of a path. What we accept a server does; what a
// server accepts we do, but for "." and ".." as the beginning of a sequential name.
func checkPath(t *testing.T, path string) {
	t.Helper()
	err := validatePath(path, false)
	require.Equal(t, serverAccepts(path, false), err == nil, "%q: %v", path, err)
	if err != nil {
		require.ErrorIs(t, err, ErrInvalidPath)
		require.NotContains(t, err.Error(), "\n")
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	err = validatePath(path, true)
	require.Equal(t, serverAccepts(path, true) && last != "." && last != "..", err == nil, "%q, sequential: %v", path, err)
}

func TestPathsOfEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if r > 0xffff { // refused, one like the other
			r = min(r+0x100, unicode.MaxRune)
		}
		path := "/a" + string(r) + "b"
		if want := serverAccepts(path, false); want != (validatePath(path, false) == nil) {
			require.Equal(t, want, !want, "%q", path)
		}
	}
	for b := range 256 {
		checkPath(t, string([]byte{'/', byte(b)}))
		checkPath(t, string([]byte{'/', 'a', byte(b), 'b'}))
	}
	for _, path := range oddPaths {
		checkPath(t, path)
	}
}

var oddPaths = []string{
	"", "/", "a", "//", "/a/", "/a//b", "/.", "/..", "/...", "/a/./b", "/a/../b", "/a/..", "/a/.", "/.a", "/..a", "/a.", "/a..", "/a/...",
	"/\ue000", "/\uefff", "/\uf8ff", "/\uf900", "/\uffef", "/\ufff0", "/\ufffd", "/\U00010000", "/\U0001f642", "/\U0010ffff",
	"/\xed\xa0\x80", "/\xff", "/a\xc3", "/\x1f", "/ ", "/~", "/\x7f", "/\u009f", "/\u00a0", "/\u202e", "/locks/東京",
}

func FuzzPathRules(f *testing.F) {
	for _, path := range oddPaths {
		f.Add(path)
	}
	f.Fuzz(checkPath)
}

func TestEveryArgumentRefusesBadPaths(t *testing.T) {
	for _, bad := range []string{"a\ue123", "a\U0001f642", "a\xff", "a\x00", "a\u0085", "..", "a//b"} {
		for _, cfg := range []Config{
			{Servers: []string{"zk"}, Namespace: bad}, {Servers: []string{"zk"}, Chroot: "/" + bad}, {Servers: []string{"zk/" + bad}},
		} {
			assert.ErrorIs(t, cfg.Validate(), ErrInvalidPath, "%q", bad)
		}
		_, err := (&Client{core: new(core)}).Namespace(bad)
		assert.ErrorIs(t, err, ErrInvalidPath, "%q", bad)
		assert.ErrorIs(t, ValidatePath("/"+bad), ErrInvalidPath, "%q", bad)
		_, _, err = (&Client{core: new(core)}).Children(t.Context(), "/"+bad)
		assert.ErrorIs(t, err, ErrInvalidPath, "%q", bad)
	}
}

func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"", "/", "a", "/a", "/a/", "/a/b", "//", "/.", "/..", "/a/./b", "/a\x00", "/\u0085", "/\ufff0", "/\ud7ff", "/é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		err := validatePath(path, false)
		if err != nil {
			assert.ErrorIs(t, err, ErrInvalidPath)
			return
		}
		assert.NoError(t, validatePath(path, true), "what may be created may be created with a number")
		assert.True(t, strings.HasPrefix(path, "/"))
		assert.NoError(t, validatePath(parentOf(path), false))
		assert.NoError(t, validatePath(join(path, "x"), false))
		assert.Equal(t, path, parentOf(join(path, "x")))
		for _, prefix := range []string{"", "/ns", "/ns/deep"} {
			c := &Client{prefix: prefix}
			assert.NoError(t, validatePath(c.full(path), false))
			assert.Equal(t, path, c.local(c.full(path)))
		}
	})
}
