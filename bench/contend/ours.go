package contend

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// ours is this project.
type ours struct {
	client *framework.Client
	single bool // the semaphore's layout
	async  bool // it does not wait for the answer to a release

	// A program has one mutex for a path, which all its goroutines share.
	mu   sync.Mutex
	last lease.Acquirer
	path string // of that

	crowd
}

func openOurs(config Config) (system, error) {
	client, err := framework.Connect(context.Background(), framework.Config{
		Servers: []string{config.Server}, SessionTimeout: config.Session, Logger: slog.New(slog.DiscardHandler),
	})
	return &ours{client: client, crowd: crowd{server: config.Server}}, err
}

func openOursSingle(config Config) (system, error) {
	s, err := openOurs(config)
	if err == nil {
		s.(*ours).single = true
	}
	return s, err
}

func openOursAsync(config Config) (system, error) {
	s, err := openOurs(config)
	if err == nil {
		s.(*ours).async = true
	}
	return s, err
}

func (s *ours) close() {
	s.client.Close()
	s.crowd.close()
}

func (s *ours) locker(kind, path string, worker int) (locker, error) {
	a, err := s.acquirer(kind, path, worker)
	return &leased{Acquirer: a, async: s.async}, err
}

func (s *ours) acquirer(kind, path string, worker int) (lease.Acquirer, error) {
	switch kind {
	case "semaphore":
		var options []semaphore.Option
		if s.single {
			options = append(options, semaphore.WithSingleQueue())
		}
		return semaphore.New(s.client, path, permits, options...)
	case "leader":
		return leader.New(s.client, path, leader.WithID(fmt.Sprint("candidate-", worker)))
	case "read", "write":
		l, err := rwlock.New(s.client, path)
		if err != nil {
			return nil, err
		}
		if kind == "read" {
			return l.Read(), nil
		}
		return l.Write(), nil
	}
	return s.mutex(path)
}

func (s *ours) mutex(path string) (lease.Acquirer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == path {
		return s.last, nil
	}
	m, err := mutex.New(s.client, path)
	if err == nil {
		s.last, s.path = m, path
	}
	return m, err
}

// keep asks the lease, which looks at the clock.
func (s *ours) keep(path string) (held func() bool, err error) {
	m, err := s.mutex(path)
	if err != nil {
		return nil, err
	}
	l, err := m.Acquire(context.Background(), lease.Forever)
	return func() bool { return l.Err() == nil }, err
}

// leased is a locker of one worker.
type leased struct {
	lease.Acquirer
	held  *lease.Lease
	async bool
}

func (l *leased) acquire() (err error) {
	l.held, err = l.Acquire(context.Background(), lease.Forever)
	return err
}

func (l *leased) token() int64 { return int64(l.held.Token()) }

func (l *leased) release() error {
	held := l.held
	l.held = nil
	if l.async {
		return held.ReleaseAsync()
	}
	return held.Release()
}
