package guard

import (
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Text of a server gets into the log on one line.
func TestMessagesOfTheLibraryAreOneLine(t *testing.T) {
	var log strings.Builder
	libraryLog{slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "message" { // as a handler that does not quote would show it
				require.Negative(t, strings.IndexFunc(a.Value.String(), func(r rune) bool { return !unicode.IsPrint(r) }))
			}
			return a
		},
	}))}.Printf("server said %s", "x\n2026-11-21 INFO paid\x1b[2J\u202e\u0085"+strings.Repeat("/long\n", 100<<10))
	require.Contains(t, log.String(), "server said x")
}
