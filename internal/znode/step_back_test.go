package znode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const aLatch = "_c_01234567-89ab-8def-8123-456789abcdef-latch-0000000001"

// Both requests stay what they are, and keep the id, in whatever order they come.
func TestMarksOfACandidate(t *testing.T) {
	for _, id := range []string{"", "a", "host:8080", "two\nlines", "ends\n", "\n", "\n\n", "__STEP_BACK", "__REVOKE__ first", `{"who":"a"}`} {
		back, change := MarkStepBack([]byte(id))
		require.True(t, change, "%q", id)
		require.True(t, StepBackRequested(back), "%q", id)
		require.False(t, RevocationRequested(back), "%q", id)
		require.Equal(t, id, string(Unmarked(back)))

		revoked, change := MarkRevocation(aLatch, []byte(id))
		require.True(t, change, "%q", id)
		require.False(t, StepBackRequested(revoked), "%q", id)

		backAndRevoked, change := MarkRevocation(aLatch, back)
		require.True(t, change, "%q", id)
		revokedAndBack, change := MarkStepBack(revoked)
		require.True(t, change, "%q", id)
		for _, data := range [][]byte{backAndRevoked, revokedAndBack} {
			require.True(t, RevocationRequested(data), "%q", id)
			require.True(t, StepBackRequested(data), "%q", id)
			require.Equal(t, id, string(Unmarked(data)))
			again, change := MarkStepBack(data)
			require.False(t, change, "%q", id)
			require.Equal(t, data, again)
			again, change = MarkRevocation(aLatch, data)
			require.False(t, change, "%q", id)
			require.Equal(t, data, again)
		}
	}
}

// A request that another program has written, in place of the data or without a
// newline, is one.
func TestMarksOfOthers(t *testing.T) {
	for data, id := range map[string]string{
		"__STEP_BACK__": "", "\n__STEP_BACK__": "", "a__STEP_BACK__": "a",
		"a\n__STEP_BACK____REVOKE__": "a", "__STEP_BACK__\n__REVOKE__": "",
	} {
		require.True(t, StepBackRequested([]byte(data)), "%q", data)
		require.Equal(t, id, string(Unmarked([]byte(data))), "%q", data)
	}
	for _, data := range []string{"", "__STEP_BACK__\n", "__STEP_BACK__ a", "__step_back__", "__REVOKE__"} {
		require.False(t, StepBackRequested([]byte(data)), "%q", data)
	}
}

// The data that is marked is not changed itself: others may still use it.
func TestMarkingCopiesTheData(t *testing.T) {
	data := append(make([]byte, 0, 100), "a\n__REVOKE__"...)
	marked, _ := MarkStepBack(data)
	require.Equal(t, "a\n__STEP_BACK__\n__REVOKE__", string(marked))
	require.Equal(t, "a\n__REVOKE__", string(data))
}
