package zktest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
	"github.com/zkrecipes/zkrecipes/zktest/internal/script"
)

// Everything at once: clients connect, work and leave while links break, the server
// pauses and restarts, and rules fire. Nothing may race, block or be left behind, and
// in the end the server must work.
func TestStress(t *testing.T) {
	s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)), zktest.WithReapInterval(time.Millisecond))
	s.SetFaults(func(c zktest.Call) zktest.Action {
		if c.N%37 > 0 {
			return zktest.Pass
		}
		return []zktest.Action{zktest.CutConnection, zktest.Delay(time.Microsecond), zktest.ExpireSession, zktest.Mute}[c.N%4]
	})
	stop := make(chan struct{})
	var workers, troubles sync.WaitGroup
	for i := range 6 {
		workers.Go(func() {
			for n := range 30 {
				work(t, s, fmt.Sprintf("c%d", i%3), uint64(100*i+n))
			}
		})
	}
	troubles.Go(func() {
		r := rand.New(rand.NewPCG(1, 2))
		for {
			select {
			case <-stop:
				return
			default:
				trouble(s, r)
			}
		}
	})
	workers.Wait()
	close(stop)
	troubles.Wait()
	s.SetFaults(nil)
	s.Restart(true)
	c, err := script.Connect(t.Context(), func(ctx context.Context) (net.Conn, error) { return s.Dial("last")(ctx, "mem", s.Addr()) },
		10*time.Second, 0, nil, 0)
	require.NoError(t, err)
	reply, err := c.Do(zktest.OpSync, func(e *jute.Encoder) { e.String("/") })
	require.NoError(t, err)
	require.Equal(t, zktest.OK, reply.Code)
	require.NoError(t, c.Close())
}

// work sends random requests over one connection, as long as it is open.
func work(t *testing.T, s *zktest.Server, name string, seed uint64) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	nc, err := s.Dial(name)(ctx, "mem", s.Addr())
	if err != nil {
		return
	}
	defer nc.Close()
	r := rand.New(rand.NewPCG(seed, 3))
	first := jute.NewFrame(64)
	first.ConnectRequest(jute.ConnectRequest{TimeOut: 10_000, Password: make([]byte, 16)})
	_, _ = nc.Write(first.Frame())
	for range 40 {
		e := jute.NewFrame(64)
		e.Int32(1)
		path := fmt.Sprintf("/n%d", r.IntN(5))
		switch r.IntN(5) {
		case 0, 1:
			e.Int32(int32(zktest.OpCreateContainer + zktest.Op(r.IntN(2))*(zktest.OpCreate-zktest.OpCreateContainer)))
			e.String(path)
			e.Buffer(nil)
			e.ACLs([]jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}})
			e.Int32(int32(r.IntN(4)))
		case 2:
			e.Int32(int32(zktest.OpDelete))
			e.String(path)
			e.Int32(-1)
		case 3:
			e.Int32(int32(zktest.OpExists))
			e.String(path)
			e.Bool(true)
		case 4:
			e.Int32(int32(zktest.OpAddWatch))
			e.String("/")
			e.Int32(1)
		}
		if _, err := nc.Write(e.Frame()); err != nil {
			return
		}
	}
	_ = nc.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	for err == nil {
		_, err = jute.ReadFrame(nc, jute.MaxFrame)
	}
}

// trouble applies one of the server's faults.
func trouble(s *zktest.Server, r *rand.Rand) {
	client := fmt.Sprintf("c%d", r.IntN(3))
	switch r.IntN(10) {
	case 0:
		s.Partition(client, true)
		s.Partition(client, false)
	case 1:
		s.Stall(client, true)
		s.Stall(client, false)
	case 2:
		s.Pause()
		s.Resume()
	case 3:
		s.Restart(r.IntN(4) > 0)
	case 4:
		s.DropConnections(client)
	case 5:
		s.Lag(client, r.IntN(2) == 0)
	case 6:
		for _, x := range s.Sessions() {
			s.ExpireSession(x.ID)
		}
	case 7:
		s.RefuseConnections(client, true)
		s.RefuseConnections(client, false)
	case 8:
		_ = s.Dump()
		_ = s.Trace()
		_ = s.Watches()
	case 9:
		m := s.Split(client)
		m.Return(client)
		m.Take(client)
		if r.IntN(2) == 0 {
			m.End()
		}
	}
}
