package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// report sends a report to the board, and returns whether that accepts it.
func report(t *testing.T, b *board, what string) bool {
	t.Helper()
	answer := httptest.NewRecorder()
	b.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, what, http.NoBody))
	return answer.Code == http.StatusOK
}

// What is wrong would be seen.
func TestBoard(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reports []string
		kill    string
		right   bool
		refused int
	}{
		"one after the other": {reports: []string{
			"/begin?id=a&token=3", "/job?id=a&token=3", "/end?id=a&token=3&how=ended", "/begin?id=b&token=7", "/end?id=b&token=7&how=ended",
		}, right: true},
		"without the election": {reports: []string{
			"/begin?id=a&token=3", "/begin?id=b&token=7", "/end?id=a&token=3&how=ended", "/end?id=b&token=7&how=ended",
		}},
		"it does not wait for its work": {reports: []string{
			"/begin?id=a&token=3", "/end?id=a&token=3&how=ended", "/job?id=a&token=3",
		}},
		"it resigns before its work has ended": {reports: []string{
			"/begin?id=a&token=3", "/begin?id=b&token=7", "/job?id=a&token=3", "/end?id=b&token=7&how=ended", "/end?id=a&token=3&how=ended",
		}, refused: 1},
		"it does not end": {reports: []string{"/begin?id=a&token=3"}},
		"its machine stood still": {reports: []string{
			"/begin?id=a&token=3", "/begin?id=b&token=7", "/job?id=a&token=3", "/end?id=a&token=3&how=lost", "/end?id=b&token=7&how=ended",
		}, right: true, refused: 1},
		"it was killed": {reports: []string{
			"/begin?id=a&token=3", "/job?id=a&token=3", "/end?id=a&token=3&how=ended",
		}, kill: "a", right: true},
	} {
		b := newBoard()
		for _, r := range c.reports {
			report(t, b, r)
			b.Change(func() { b.bury(c.kill) })
		}
		tally := b.count()
		require.Equal(t, c.right, tally.check() == nil, "%s: %v", name, tally)
		require.Equal(t, c.refused, tally.refused, name)
	}
	require.False(t, report(t, newBoard(), "/begin?id=a"))
	require.False(t, report(t, newBoard(), "/?id=a&token=3"))
}
