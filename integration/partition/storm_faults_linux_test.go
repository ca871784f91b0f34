package partition

import (
	"context"
	"errors"
	"time"
)

// A fault strikes one server, or all but that one.
type fault struct {
	name   string
	strike func(s *storm, ctx context.Context, i int) error
}

var faults = []fault{
	{"cut off", func(s *storm, _ context.Context, i int) error { return s.net.cut(i) }},
	{"dropIncoming", func(s *storm, _ context.Context, i int) error { return s.net.dropIncoming(i) }},
	{"dropOutgoing", func(s *storm, _ context.Context, i int) error { return s.net.dropOutgoing(i) }},
	{"silence and reset", func(s *storm, _ context.Context, i int) error { return s.net.reset(i) }},
	{"freeze", (*storm).freeze},
	{"cut off and freeze", func(s *storm, ctx context.Context, i int) error {
		return errors.Join(s.net.cut(i), s.freeze(ctx, i))
	}},
	{"restart", func(s *storm, ctx context.Context, i int) error { return s.restart(ctx, i) }},
	{"restart all but", func(s *storm, ctx context.Context, i int) error {
		n := s.servers.Size()
		return s.restart(ctx, (i+1)%n, (i+2)%n)
	}},
	{"cut off and restart all but", func(s *storm, ctx context.Context, i int) error {
		n := s.servers.Size()
		return errors.Join(s.net.cut(i), s.restart(ctx, (i+1)%n, (i+2)%n))
	}},
}

// freeze stops a server for a tenth of a session timeout to one and a half.
func (s *storm) freeze(ctx context.Context, i int) error {
	if err := s.servers.Node(i).Pause(); err != nil {
		return err
	}
	if err := s.wait(ctx, stormSession/10, stormSession*3/2); err != nil {
		return err
	}
	s.note("thaw %s", s.net.hosts[i].name)
	return s.servers.Node(i).Resume()
}

// restart kills servers and starts them at once, or a little later.
func (s *storm) restart(ctx context.Context, servers ...int) error {
	for _, i := range servers {
		if err := s.servers.Node(i).Kill(); err != nil {
			return err
		}
	}
	if s.rng.IntN(2) == 0 {
		if err := s.wait(ctx, 10*time.Millisecond, stormSession/2); err != nil {
			return err
		}
	}
	for _, i := range servers {
		if err := s.servers.Node(i).Start(ctx); err != nil {
			return err
		}
	}
	return nil
}
