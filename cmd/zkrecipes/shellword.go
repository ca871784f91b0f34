package main

import "strings"

// plainInShell are the bytes that mean nothing special to a shell, besides letters and
// digits.
const plainInShell = "/._-+:,@%="

// shellWord quotes text for a command that is printed to be copied, if it has to be.
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
