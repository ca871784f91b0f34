//go:build unix

package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// environmentFile reads a file as systemd.exec(5) says of EnvironmentFile=, with
// values of several parts and lines.
func environmentFile(text string) map[string]string {
	const blank, newline = " \t\r\n", "\r\n"
	all := map[string]string{}
	for text = strings.TrimLeft(text, blank); text != ""; text = strings.TrimLeft(text, blank) {
		end := strings.IndexAny(text, "="+newline)
		if strings.ContainsAny(text[:1], "#;") || end < 0 || text[end] != '=' {
			end = strings.IndexAny(text+"\n", newline)
			text = text[end:]
			continue
		}
		name := strings.TrimRight(text[:end], blank)
		all[name], text = environmentValue(text[end+1:])
	}
	return all
}

// environmentValue returns the value that a text begins with, and the rest.
func environmentValue(text string) (value, rest string) {
	for {
		text = strings.TrimLeft(text, " \t")
		if text == "" || text[0] == '\n' || text[0] == '\r' {
			return value, text
		}
		if quote := text[0]; quote == '\'' || quote == '"' {
			i := 1
			for ; i < len(text) && text[i] != quote; i++ {
				if quote == '"' && text[i] == '\\' && i+1 < len(text) {
					i++
				}
				value += string(text[i])
			}
			text = text[min(i+1, len(text)):]
			continue
		}
		var plain []byte
		i := 0
		for ; i < len(text) && text[i] != '\n' && text[i] != '\r'; i++ {
			if text[i] == '\\' && i+1 < len(text) {
				i++
			}
			plain = append(plain, text[i])
		}
		return value + strings.TrimRight(string(plain), " \t"), text[i:]
	}
}

// What we accept means the same to systemd.
func TestConfigFilesAreEnvironmentFiles(t *testing.T) {
	parts := []string{"ZKRECIPES_KEY=", "ZKRECIPES_ID=", "ZKRECIPES_LABEL ", "=", "#", ";", "\n", "\n", "\n", "\r", " ", "\t", `"`, `"`, "'", "'", `\`, "$", "x", "`"}
	random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- the same texts at each run
	accepted, valued := 0, 0
	for range 20_000 {
		var text strings.Builder
		for range 1 + random.IntN(10) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		ours, err := parseConfig("f", text.String())
		if err != nil {
			continue
		}
		accepted++
		got := map[string]string{}
		for _, v := range ours {
			got[v.name] = v.value
			valued++
		}
		want := environmentFile(text.String())
		for name, value := range want {
			if value == "" {
				delete(want, name)
			}
		}
		require.Equal(t, want, got, "%q", text.String())
	}
	require.Greater(t, accepted, 1_000)
	require.Greater(t, valued, 250)
}
