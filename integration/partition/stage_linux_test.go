package partition

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// The contenders of a test with one fault. The holder is on the leader's host and knows
// only that server. The successor is elsewhere and knows only the others.
const (
	holder    = "holder"
	successor = "successor"
)

// A stage is the setting of a test with one fault: three servers with the settings of
// ZooKeeper's sample configuration, a holder, and a successor that waits.
type stage struct {
	t       *testing.T
	net     *network
	servers ensemble.Ensemble
	old     int   // the leader before the fault
	others  []int // the majority without it
	history *history
}

// An effect is what a fault must cause, or the test shows nothing.
type effect bool

const (
	atOnce     effect = false
	reattached effect = true // the holder's client reconnects to the old leader
)

func newStage(t *testing.T, session time.Duration) *stage {
	t.Helper()
	s := &stage{t: t, net: newNetwork(t, 3), history: newHistory()}
	s.servers = ensemble.New(t, ensemble.Options{
		Backend: ensemble.BackendProcess, Nodes: 3, Hosts: s.net.places(), TickTime: 2 * time.Second,
		Config: map[string]string{"initLimit": "10", "syncLimit": "5"},
	})
	var err error
	s.old, err = s.servers.Leader(within(t, limit))
	require.NoError(t, err)
	heirs := plan{Session: session, Keep: true}
	for i := range s.servers.Size() {
		if i != s.old {
			s.others = append(s.others, i)
			heirs.Servers = append(heirs.Servers, s.servers.Node(i).Addr())
		}
	}
	s.history.start(t, holder, s.net.on(s.old), plan{
		Session: session, Keep: true, Servers: []string{s.servers.Node(s.old).Addr()},
	})
	s.await(holder+" is not granted", func(h *history) bool { return h.last[holder] != nil })
	require.Equal(t, session, s.holds().Timeout, "the servers have granted another session timeout")
	s.history.start(t, successor, nil, heirs)
	s.awaitQueue()
	return s
}

// awaitQueue waits until two sessions have a node in the queue.
func (s *stage) awaitQueue() {
	s.t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for ctx := within(s.t, limit); ; {
		nodes, err := ensemble.Dump(ctx, s.servers.Node(s.old).Addr())
		if err == nil && len(nodes) == 2 {
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			require.Fail(s.t, successor+" does not wait", "%v: %v", nodes, err)
		}
	}
}

// awaitRenewal waits until the holder's trust comes from requests of its client after
// the grant.
func (s *stage) awaitRenewal() {
	s.t.Helper()
	s.await("the trust is not renewed", func(h *history) bool {
		l := h.last[holder]
		return l.Trusted.Sub(l.From) > l.Timeout || l.Ended != ""
	})
}

// awaitLate waits until the holder's lease is trusted for only a little longer.
func (s *stage) awaitLate(left time.Duration) {
	s.t.Helper()
	select {
	case <-time.After(time.Until(s.holds().Trusted) - left):
	case <-s.t.Context().Done():
	}
}

// holds returns the lease of the holder. Its client gets only one: after the fault its
// server never belongs to a majority again.
func (s *stage) holds() stay { return s.history.latest(holder) }

func (s *stage) await(what string, so func(*history) bool) {
	s.t.Helper()
	require.NoError(s.t, s.history.await(s.t.Context(), what, so))
}

// do does the steps of a fault.
func (s *stage) do(steps ...func() error) {
	s.t.Helper()
	for _, step := range steps {
		require.NoError(s.t, step())
	}
}

// restartMajority kills the other servers and starts them at once.
func (s *stage) restartMajority() error {
	for _, i := range s.others {
		if err := s.servers.Node(i).Kill(); err != nil {
			return err
		}
	}
	for _, i := range s.others {
		if err := s.servers.Node(i).Start(s.t.Context()); err != nil {
			return err
		}
	}
	return nil
}

// isolate, pause and resume act on the old leader.
func (s *stage) isolate() error { return s.net.cut(s.old) }
func (s *stage) reset() error   { return s.net.reset(s.old) }
func (s *stage) pause() error   { return s.servers.Node(s.old).Pause() }
func (s *stage) resume() error  { return s.servers.Node(s.old).Resume() }

// exclude keeps the old leader out of elections: it never receives the result.
func (s *stage) exclude() error { return s.net.dropPort(s.old, 3888) }

// conclude waits until the successor has the mutex and the holder's lease is over, and
// checks the guarantees. The fault has struck if the lease was still valid at the fault
// and the old leader had not stepped down; and, for reattached, if the holder's client
// reconnected to that in time.
func (s *stage) conclude(struck time.Time, takes effect) {
	s.t.Helper()
	s.await(successor+" is not granted", func(h *history) bool { return h.last[successor] != nil })
	s.await("the lease is not over", func(h *history) bool { return h.last[holder].Ended != "" })
	a, b := s.holds(), s.history.latest(successor)
	stepped := s.logged([]int{s.old}, "Shutdown called. For the reason")[0]

	s.t.Cleanup(func() { s.t.Log(a, "\n", b) })
	requireNone(s.t, breaches(s.history.all()))
	again := s.history.attached(holder, struck, stepped)
	if !s.t.Failed() && (a.Until.Before(struck) || stepped.Before(struck) || takes == reattached && !again) {
		s.t.Fatalf("%s: at %v; the leader stepped down %v; attached again: %t", notStruck, struck, stepped, again)
	}
	expired := s.logged(s.others, fmt.Sprintf("Expiring session %#x,", uint64(a.Session)))[0] //nolint:gosec // an id may use all 64 bits
	gap := b.From.Sub(a.Until)
	since := func(at time.Time) time.Duration { return at.Sub(struck).Round(time.Millisecond) }
	s.t.Logf("%s: lease over %v before the next grant; after the fault: old leader stepped down %v, lease over %v, "+
		"session expired %v, next granted %v", s.t.Name(), gap.Round(time.Millisecond),
		since(stepped), since(a.Until), since(expired), since(b.From))

	assert.GreaterOrEqual(s.t, gap, a.Timeout/6-100*time.Millisecond, "the old lease was over too late before the next was granted")
	assert.Less(s.t, a.Until, expired, "the session had expired while its lease was valid")
}

// logged waits until one of these servers has logged a line with that text, and returns
// the times of all such lines.
func (s *stage) logged(servers []int, text string) (times []time.Time) {
	s.t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for ctx := within(s.t, limit); ; {
		for _, i := range servers {
			lines, err := s.servers.Node(i).Logged(text)
			require.NoError(s.t, err)
			for _, line := range lines {
				stamp, _, _ := strings.Cut(line, " ")
				at, err := time.Parse(time.RFC3339Nano, stamp)
				require.NoError(s.t, err)
				times = append(times, at)
			}
		}
		if times != nil {
			slices.SortFunc(times, time.Time.Compare)
			return times
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			require.Fail(s.t, "not in the logs", "none of the servers %v wrote %q", servers, text)
		}
	}
}
