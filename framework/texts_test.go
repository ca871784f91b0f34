package framework

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Text from servers and other clients is on one line in messages, and cut to a length
// that can be read; the fields keep it as it was.
func TestTextsOfOthersAreOneLine(t *testing.T) {
	const forged = "x\n2026-11-21 INFO paid\x1b[2J\u202e\u0085"
	long := strings.Repeat("/long\n", 100<<10)
	connect := &ConnectError{Attempts: []ConnectAttempt{
		{Addr: forged, Err: errors.New(long)}, {Addr: long, Err: fmt.Errorf("certificate is valid for %s", forged)}, {Addr: "zk:2181"},
	}}
	op := &OpError{Op: "get", Path: "/" + forged, Err: ErrNoNode, Session: 1}
	for _, err := range []error{
		connect, op, &OpError{Op: "get", Path: long, Err: ErrNoNode},
		validatePath(long, false), validatePath(forged, false), validateNamespace("/" + long + forged),
	} {
		text := err.Error()
		require.Negative(t, strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "%.300q", text)
		require.Less(t, len(text), 4000)
	}
	require.Equal(t, `get /x\n2026-11-21 INFO paid\x1b[2J\u202e\u0085: node does not exist (session 0x1)`, op.Error())
	require.Contains(t, connect.Error(), `tried x\n2026-11-21 INFO paid`)
	require.Equal(t, forged, connect.Attempts[0].Addr)
	require.ErrorContains(t, notConnected(nil), "no server tried yet")
}
