package main

import "strings"

// plainInShell are the characters without special meaning to a shell, besides letters
// and digits.
const plainInShell = "/._-+:,@%="

// shellWord quotes text, if needed, for a shell command that users copy.
func shellWord(text string) string {
	special := strings.ContainsFunc(text, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune(plainInShell, r)
	})
	if text != "" && !special {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
