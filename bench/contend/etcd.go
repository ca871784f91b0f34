package contend

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
	"go.uber.org/zap"
)

// etcd is its concurrency package, and the read-write lock of its recipes. A session
// owns one key of a lock, so that each worker needs its own session.
type etcd struct {
	client *clientv3.Client
	ttl    int

	mu       sync.Mutex
	sessions map[int]*concurrency.Session // by worker
}

func openEtcd(config Config) (system, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{config.Server}, DialTimeout: 10 * time.Second, Logger: zap.NewNop(),
	})
	return &etcd{client: client, ttl: int(config.Session.Seconds()), sessions: map[int]*concurrency.Session{}}, err
}

func (s *etcd) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		_ = session.Close()
	}
	_ = s.client.Close()
}

func (s *etcd) session(worker int) (*concurrency.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session := s.sessions[worker]; session != nil {
		return session, nil
	}
	session, err := concurrency.NewSession(s.client, concurrency.WithTTL(s.ttl))
	if err == nil {
		s.sessions[worker] = session
	}
	return session, err
}

func (s *etcd) locker(kind, path string, worker int) (locker, error) {
	session, err := s.session(worker)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	switch kind {
	case "mutex":
		m := concurrency.NewMutex(session, path)
		return functions{func() error { return m.Lock(ctx) }, func() error { return m.Unlock(ctx) }}, nil
	case "leader":
		e := concurrency.NewElection(session, path)
		return functions{func() error { return e.Campaign(ctx, "x") }, func() error { return e.Resign(ctx) }}, nil
	case "read":
		l := recipe.NewRWMutex(session, path)
		return functions{l.RLock, l.RUnlock}, nil
	case "write":
		l := recipe.NewRWMutex(session, path)
		return functions{l.Lock, l.Unlock}, nil
	}
	return nil, fmt.Errorf("etcd has no %s", kind)
}

// keep looks at the session.
func (s *etcd) keep(path string) (held func() bool, err error) {
	session, err := s.session(0)
	if err != nil {
		return nil, err
	}
	err = concurrency.NewMutex(session, path).Lock(context.Background())
	return func() bool {
		select {
		case <-session.Done():
			return false
		default:
			return true
		}
	}, err
}

func (s *etcd) queued(path string) (int, error) {
	response, err := s.client.Get(context.Background(), path+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return int(response.Count), nil
}
