package once_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

var errEnough = errors.New("enough")

// A hindrance is what happens to client a before or during a call of Record.
type hindrance struct {
	*conformance.World
	client *framework.Client
	held   *lease.Lease
	cancel context.CancelCauseFunc
}

// soon does something during the call.
func (h *hindrance) soon(f func()) { time.AfterFunc(time.Second, f) }

func (h *hindrance) release() { _ = h.held.Release() }
func (h *hindrance) close()   { _ = h.client.Close() }
func (h *hindrance) stop()    { h.cancel(errEnough) }

// disconnect breaks the connection, and refuses others.
func (h *hindrance) disconnect() {
	h.Server.RefuseConnections("a", true)
	h.Server.DropConnections("a")
}

// remove deletes nodes, of which the client is not notified.
func (h *hindrance) remove(nodes ...string) {
	h.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Client == "a" && c.Phase == zktest.PhaseEvent {
			return zktest.DropReply
		}
		return zktest.Pass
	})
	for _, node := range nodes {
		h.Remove(h.Known("operator"), node)
	}
}

// longest is how long a lease may last without a connection.
const longest = conformance.SessionTimeout

// The ways in which Record ends, the errors of which it must return one, and within
// which time.
var recordEnds = map[string]struct {
	hinder func(h *hindrance)
	is     []error
	within time.Duration
}{
	"nothing happens": {func(*hindrance) {}, []error{nil}, 0},
	"an answer drops": {func(h *hindrance) { h.Server.On(zktest.OpMulti, "").Client("a").After().Cut() }, []error{nil}, 0},

	"released":               {(*hindrance).release, []error{lease.ErrReleased}, 0},
	"cancelled":              {(*hindrance).stop, []error{errEnough}, 0},
	"closed":                 {(*hindrance).close, []error{lease.ErrLost, framework.ErrClosed}, 0},
	"expired":                {func(h *hindrance) { h.Expire(h.client) }, []error{lease.ErrLost}, 0},
	"its node is gone":       {func(h *hindrance) { h.remove(h.held.Path()) }, []error{lease.ErrLost}, 0},
	"its path is gone":       {func(h *hindrance) { h.remove(h.held.Path(), path+"/a.key", done, path) }, []error{lease.ErrLost}, 0},
	"no connection":          {(*hindrance).disconnect, []error{lease.ErrLost}, longest},
	"partitioned":            {func(h *hindrance) { h.Server.Partition("a", true) }, []error{lease.ErrLost}, longest},
	"stalled":                {func(h *hindrance) { h.Server.Stall("a", true) }, []error{lease.ErrLost}, longest},
	"stalled, and cancelled": {func(h *hindrance) { h.Server.Stall("a", true); h.soon(h.stop) }, []error{errEnough}, time.Second},
	"stalled, and released":  {func(h *hindrance) { h.Server.Stall("a", true); h.soon(h.release) }, []error{lease.ErrReleased}, time.Second},
	"stalled, and closed": {
		func(h *hindrance) { h.Server.Stall("a", true); h.soon(h.close) },
		[]error{lease.ErrLost, framework.ErrClosed},
		longest,
	},
	"no connection, and cancelled": {func(h *hindrance) { h.disconnect(); h.soon(h.stop) }, []error{errEnough}, time.Second},
	"no connection, and released":  {func(h *hindrance) { h.disconnect(); h.soon(h.release) }, []error{lease.ErrReleased}, time.Second},
}

// Whatever happens, Record ends in time, and says that a run may be recorded if it is.
func TestHowRecordEnds(t *testing.T) {
	for name, of := range recordEnds {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				w.Client("operator")
				c := w.Client("a")
				r := newJob(t, c).Key("a")
				held := w.Acquire(r)
				w.After(time.Second)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				of.hinder(&hindrance{w, c, held, cancel})
				began := time.Now()
				err := r.Record(ctx, held, framework.CreateOp("/effect", nil, framework.Persistent))
				require.LessOrEqual(t, time.Since(began), of.within+200*time.Millisecond)
				requireOneOf(t, err, of.is)
				w.Heal()
				w.After(time.Second)
				_, recorded := w.Server.Node(done + "/a.key")
				_, changed := w.Server.Node("/effect")
				require.Equal(t, recorded, changed)
				if recorded && err != nil {
					require.ErrorIs(t, err, framework.ErrUnknownOutcome)
				}
				if err == nil {
					require.True(t, recorded)
				}
			})
		})
	}
}

// requireOneOf checks that an error is one of some, of which nil is none.
func requireOneOf(t *testing.T, err error, some []error) {
	for _, one := range some {
		if errors.Is(err, one) {
			return
		}
	}
	t.Fatalf("%v is none of %v", err, some)
}
