package ensemble

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	pollInterval = 20 * time.Millisecond
	askLimit     = time.Second // a paused server accepts the request and never answers
)

// cluster is the Ensemble of every backend; only its nodes differ.
type cluster struct {
	nodes    []Node
	teardown func() error // ends the nodes, whatever state they are in, and removes their data
	closed   sync.Once
}

func (c *cluster) Size() int       { return len(c.nodes) }
func (c *cluster) Node(i int) Node { return c.nodes[i] }

func (c *cluster) Servers() []string {
	var all []string
	for _, n := range c.nodes {
		all = append(all, n.Addr())
	}
	return all
}

func (c *cluster) Close() (err error) {
	c.closed.Do(func() { err = c.teardown() })
	return err
}

func (c *cluster) Leader(ctx context.Context) (int, error) {
	return c.await(ctx, len(c.nodes)/2+1)
}

func (c *cluster) AwaitReady(ctx context.Context) error {
	_, err := c.await(ctx, len(c.nodes))
	return err
}

// await polls until one server leads and at least want servers, the leader counted,
// serve.
func (c *cluster) await(ctx context.Context, want int) (leader int, err error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		s := c.survey(ctx)
		if leader, ok := s.settled(want); ok {
			return leader, nil
		}
		if err := c.dead(s); err != nil {
			return 0, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("servers not ready: %w: %s", context.Cause(ctx), s)
		}
	}
}

// dead returns an error if a server that gave no answer has ended by itself, so that no
// call waits for it.
func (c *cluster) dead(s survey) error {
	for i, n := range c.nodes {
		if s[i].err == nil {
			continue
		}
		if err := n.alive(); err != nil {
			return fmt.Errorf("server %d (%s): %w", i, n.Addr(), err)
		}
	}
	return nil
}

// survey asks all servers at once for their modes.
func (c *cluster) survey(ctx context.Context) survey {
	s := make(survey, len(c.nodes))
	var wg sync.WaitGroup
	for i, n := range c.nodes {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, askLimit)
			defer cancel()
			s[i].addr = n.Addr()
			s[i].mode, s[i].err = mode(ctx, n.Addr())
		})
	}
	wg.Wait()
	return s
}

// mode returns the mode of the server at addr: "leader", "follower" or "standalone".
func mode(ctx context.Context, addr string) (string, error) {
	answer, err := Srvr(ctx, addr)
	if err != nil {
		return "", err
	}
	if answer["Mode"] == "" {
		return "", errors.New("does not serve")
	}
	return answer["Mode"], nil
}

// A survey is what each server answered at one moment.
type survey []struct {
	addr string
	mode string
	err  error
}

// settled reports whether exactly one server leads and want servers in all serve.
func (s survey) settled(want int) (leader int, ok bool) {
	leaders, serving := 0, 0
	for i, a := range s {
		switch a.mode {
		case "leader", "standalone":
			leader = i
			leaders++
			serving++
		case "follower":
			serving++
		}
	}
	return leader, leaders == 1 && serving >= want
}

func (s survey) String() string {
	var parts []string
	for _, a := range s {
		what := a.mode
		if a.err != nil {
			what = a.err.Error()
		}
		parts = append(parts, a.addr+": "+what)
	}
	return strings.Join(parts, "; ")
}
