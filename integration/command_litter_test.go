package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// While the server removes the nodes of locks that nobody uses, litter counts none of
// them, and does not fail on them either. In the end it reports what stays.
func TestLitterWhileTheServerCleansUp(t *testing.T) {
	servers := ensemble.New(t, ensemble.Options{NoSync: true, ReapInterval: 50 * time.Millisecond})
	server := servers.Servers()[0]
	client := connect(t, server)
	for _, folder := range []string{"/locks", "/locks/kept"} {
		_, err := client.Create(within(t, limit), folder, nil, framework.Persistent)
		require.NoError(t, err)
	}
	const stays = "/locks/kept/lock-0000000000"
	_, err := client.Create(within(t, limit), stays, nil, framework.Persistent)
	require.NoError(t, err)
	for i := range 100 {
		lock := newMutex(t, client, fmt.Sprintf("/locks/unused/%d", i))
		held, err := lock.Acquire(within(t, limit), 0)
		require.NoError(t, err)
		require.NoError(t, held.Release())
	}
	for ctx := within(t, limit); ; {
		out, code := output(t, server, "litter", "/locks")
		require.Equal(t, 1, code, out)
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "empty?") {
				require.Contains(t, line, "/locks/unused")
			} else if strings.HasSuffix(line, "/locks/unused\n") || strings.Contains(line, "/locks/unused/") {
				require.Fail(t, "it may still be removed", "%s", line)
			}
		}
		if !strings.Contains(out, "/locks/unused") {
			assert.Regexp(t, `(?m)^not-ephemeral .* `+stays+`$`, out)
			break
		}
		require.NoError(t, ctx.Err(), out)
	}
	require.NoError(t, client.Delete(within(t, limit), stays, framework.AnyVersion))
	_, code := output(t, server, "litter", "/locks")
	assert.Equal(t, 0, code, "nothing of which it is certain")
}
