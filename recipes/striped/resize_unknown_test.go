package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Resize that has lost its session after a change whose outcome it does not know says
// so.
func TestResizeThatIsLostBehindTheChange(t *testing.T) {
	for name, end := range map[string]func(w *conformance.World, c *framework.Client){
		"its session expires": func(w *conformance.World, c *framework.Client) { w.Expire(c) },
		"no server answers": func(w *conformance.World, _ *framework.Client) {
			w.Server.RefuseConnections("a", true)
		},
		"its client is closed": func(w *conformance.World, c *framework.Client) {
			w.Server.RefuseConnections("a", true)
			w.After(time.Second)
			go c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				l := newLocks(t, a, 1)
				require.NoError(t, w.Acquire(l.For("key")).Release())
				dropped := w.Server.On(zktest.OpMulti, path).Client("a").After().Cut()
				w.Server.On(zktest.OpConnect, "").Client("a").Optional().Do(zktest.Delay(time.Second))
				changing := resize(t, l, 2)
				<-dropped.Fired()
				end(w, a)
				<-changing.done
				require.Error(t, changing.err)
				stored, _, err := b.Get(t.Context(), path)
				require.NoError(t, err)
				if string(stored) != "1 stripes" {
					require.ErrorIs(t, changing.err, framework.ErrUnknownOutcome)
				}
			})
		})
	}
}
