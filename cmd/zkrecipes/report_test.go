//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkNoRepeatedPhrase fails if a line repeats a phrase, as happens when two layers
// prefix an error with the same words.
func checkNoRepeatedPhrase(t *testing.T, line string) {
	t.Helper()
	assert.Empty(t, repeatedPhrase(line), "%s", line)
}

// repeatedPhrase returns the first words of a line that are repeated at once.
func repeatedPhrase(line string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" :;,()", r) })
	for i := range words {
		for n := 1; i+2*n <= len(words); n++ {
			phrase := strings.Join(words[i:i+n], " ")
			letters := strings.ContainsFunc(phrase, unicode.IsLetter) // else it may be a time
			if letters && slices.Equal(words[i:i+n], words[i+n:i+2*n]) {
				return phrase
			}
		}
	}
	return ""
}

func TestRepeatedPhrase(t *testing.T) {
	for line, want := range map[string]string{
		"zkrecipes: 01:02:03.004 session lost: session lost: expired by the server": "session lost",
		"ls: /l: ls: /l: not permitted":                                             "ls /l",
		"lost: lost":                                                                "lost",
		"lease lost: /l, token 5, after 3s: session lost: expired":                  "",
		"zkrecipes: 01:01:01.000 leading /l":                                        "",
		"exit code 3; exit code 76, for the loss of the lock":                       "",
		"waiting for /l: 1 ahead, held by a (b, pid 3, since 2026)":                 "",
	} {
		require.Equal(t, want, repeatedPhrase(line), line)
	}
}
