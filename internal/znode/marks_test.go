package znode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever the id, and in whatever order the marks come, each is seen and the id is
// kept.
func TestMarksInAnyOrder(t *testing.T) {
	const node = "/e/_c_01234567-89ab-8def-8123-456789abcdef-latch-0000000001"
	for _, id := range []string{
		"", "a", "\n", "a\n", "a\n\n", "\na", `{"who":"a"}`, `{"who":"a"}` + "\n", "__STEP_BACK__\n", "a\n__REVOKE__\n", "a\n__STEP_BACK__\n__REVOKE__\n",
		"__STEP_BACK", "a\n__STEP_BACK__x", "null", "1", "\x00", "__REVOKE__ a",
	} {
		require.Equal(t, id, string(Unmarked([]byte(id))), "no id of New: %q", id)
		for n := range 16 { // orders of up to four marks
			data, revoked, back := []byte(id), false, false
			for i := range 4 {
				if n>>i&1 == 0 {
					marked, change := MarkRevocation(node, data)
					require.Equal(t, !revoked, change, "%q of %q", data, id)
					data, revoked = marked, true
				} else {
					marked, change := MarkStepBack(data)
					require.Equal(t, !back, change, "%q of %q", data, id)
					data, back = marked, true
				}
				require.Equal(t, revoked, RevocationRequested(data), "%q", data)
				require.Equal(t, back, StepBackRequested(data), "%q", data)
				require.Equal(t, id, string(Unmarked(data)), "%q", data)
			}
		}
	}
}
