package zktest_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
	"github.com/zkrecipes/zkrecipes/zktest/internal/script"
)

// plainClient is a client with a single goroutine. What it does depends only on the
// answers it gets. A client library races with itself when its connection breaks.
type plainClient struct {
	t    *testing.T
	dial script.Dialer
	conn *script.Conn
	id   int64
	pass []byte
}

// do sends a request. If the connection breaks it connects again, in a new session if
// the old one has expired.
func (c *plainClient) do(op zktest.Op, path string, rest func(e *jute.Encoder)) script.Reply {
	for c.conn == nil {
		conn, err := script.Connect(c.t.Context(), c.dial, 6*time.Second, c.id, c.pass, 0)
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		if c.id, c.pass = conn.ID, conn.Password; c.id == 0 {
			c.pass = nil
			_ = conn.Close()
			continue
		}
		c.conn = conn
	}
	reply, err := c.conn.Do(op, func(e *jute.Encoder) {
		e.String(path)
		rest(e)
	})
	if err != nil || reply.Closed {
		_ = c.conn.Close()
		c.conn = nil
		time.Sleep(time.Second)
	}
	return reply
}

// contend is a scenario in which many things happen at the same instant: clients race
// for names while faults act. It returns the trace.
func contend(t *testing.T, seed uint64, faults zktest.Schedule) (trace string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)), zktest.WithStepper(seed, synctest.Wait))
		s.SetFaults(faults.Faults())
		done := make(chan struct{})
		const clients = 4
		for i := range clients {
			go func() {
				defer func() { done <- struct{}{} }()
				dial := s.Dial(fmt.Sprintf("client%d", i))
				c := &plainClient{t: t, dial: func(ctx context.Context) (net.Conn, error) { return dial(ctx, "mem", s.Addr()) }}
				for n := range 5 {
					path := fmt.Sprintf("/n%d", n)
					c.do(zktest.OpCreate, path, func(e *jute.Encoder) {
						e.Buffer(nil)
						e.ACLs([]jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}})
						e.Int32(1)
					})
					c.do(zktest.OpExists, path, func(e *jute.Encoder) { e.Bool(true) })
					c.do(zktest.OpDelete, path, func(e *jute.Encoder) { e.Int32(-1) })
					time.Sleep(time.Second)
				}
				if c.conn != nil {
					_ = c.conn.Close()
				}
			}()
		}
		for range clients {
			<-done
		}
		time.Sleep(10 * time.Second) // sessions expire, all at once
		s.Settle()
		trace = written(s.Trace())
	})
	return trace
}

// written is a trace with times in nanoseconds.
func written(trace []zktest.Event) string {
	var b strings.Builder
	for _, e := range trace {
		fmt.Fprintf(&b, "%v %s\n", e.Time.UnixNano(), e)
	}
	return b.String()
}

func TestStepperRepeats(t *testing.T) {
	actions := []zktest.Action{
		zktest.CutConnection, zktest.DropReply, zktest.ExpireSession, zktest.Mute, zktest.Delay(time.Second), zktest.Delay(9 * time.Second),
	}
	distinct, all := map[string]bool{}, sha256.New()
	const seeds = 100
	for seed := range uint64(seeds) {
		faults := zktest.RandomSchedule(seed, 3, 100, actions...)
		first := contend(t, seed, faults)
		require.Equal(t, first, contend(t, seed, faults), "seed %d", seed)
		distinct[first] = true
		all.Write([]byte(first))
	}
	require.Greater(t, len(distinct), seeds/2, "the seed must matter")
	t.Logf("all traces: %x", all.Sum(nil)) // the same for any GOMAXPROCS, with and without the race detector
}

func TestScheduleShrinks(t *testing.T) {
	actions := []zktest.Action{zktest.CutConnection, zktest.Delay(8 * time.Second), zktest.ExpireSession}
	whole := zktest.RandomSchedule(5, 12, 200, actions...)
	require.Greater(t, len(whole), 5)
	long := -1
	for i, step := range whole {
		if step.Action == zktest.Delay(8*time.Second) {
			long = i
		}
	}
	require.GreaterOrEqual(t, long, 0)
	tries := 0
	small := whole.Shrink(func(s zktest.Schedule) bool {
		tries++
		first, second := false, false
		for _, step := range s {
			first = first || step == whole[0]
			second = second || step.N == whole[long].N
		}
		return first && second
	})
	require.Len(t, small, 2)
	require.Less(t, tries, 100)
	require.Equal(t, whole[0], small[0])
	require.Equal(t, "zktest.Schedule{zktest.Step{N:4, Action:zktest.Delay(250 * time.Millisecond)}, "+
		"zktest.Step{N:7, Action:zktest.CutConnection}, zktest.Step{N:8, Action:zktest.Fail(-101)}}",
		fmt.Sprintf("%#v", zktest.Schedule{{4, zktest.Delay(250 * time.Millisecond)}, {7, zktest.CutConnection}, {8, zktest.Fail(zktest.NoNode)}}))
	require.Equal(t, "at call 4 delay by 250ms, at call 8 fail with no node",
		zktest.Schedule{{4, zktest.Delay(250 * time.Millisecond)}, {8, zktest.Fail(zktest.NoNode)}}.String())
}
