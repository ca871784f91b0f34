package contend

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgres is PostgreSQL's advisory locks. They belong to a connection, so that each
// worker has its own; what one process takes and keeps is on one.
type postgres struct {
	config Config

	mu       sync.Mutex
	sessions map[int]*session // by worker
}

// A session is a connection, for one call at a time.
type session struct {
	mu   sync.Mutex
	conn *pgx.Conn
}

// counting is the worker that counts.
const counting = -1

func openPostgres(config Config) (system, error) {
	s := &postgres{config: config, sessions: map[int]*session{}}
	_, err := s.session(0)
	return s, err
}

func (s *postgres) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, one := range s.sessions {
		go func() { _ = one.conn.Close(ctx) }()
	}
}

func (s *postgres) session(worker int) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sessions[worker]; one != nil {
		return one, nil
	}
	conn, err := pgx.Connect(context.Background(), fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", s.config.Server))
	if err != nil {
		return nil, err
	}
	one := &session{conn: conn}
	s.sessions[worker] = one
	return one, nil
}

// key is the number of a path.
func key(path string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path))
	return int64(h.Sum64()) //nolint:gosec // any number will do
}

// call calls a function of PostgreSQL with a key.
func (s *session) call(function string, key int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Exec(context.Background(), "SELECT "+function+"($1)", key)
	return err
}

// release calls a function that tells whether the lock was held.
func (s *session) release(function string, key int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ok bool
	err := s.conn.QueryRow(context.Background(), "SELECT "+function+"($1)", key).Scan(&ok)
	if err == nil && !ok {
		err = errors.New("the lock was not held")
	}
	return err
}

func (s *postgres) locker(kind, path string, worker int) (locker, error) {
	one, err := s.session(worker)
	if err != nil {
		return nil, err
	}
	k, shared := key(path), ""
	switch kind {
	case "mutex", "leader", "write":
	case "read":
		shared = "_shared"
	default:
		return nil, fmt.Errorf("PostgreSQL has no %s", kind)
	}
	return functions{
		func() error { return one.call("pg_advisory_lock"+shared, k) },
		func() error { return one.release("pg_advisory_unlock"+shared, k) },
	}, nil
}

// keep asks the server over the connection that has the lock: while it answers there,
// the lock is held.
func (s *postgres) keep(path string) (held func() bool, err error) {
	one, err := s.session(0)
	if err != nil {
		return nil, err
	}
	err = one.call("pg_advisory_lock", key(path))
	return func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), s.config.Session)
		defer cancel()
		return one.conn.Ping(ctx) == nil
	}, err
}

func (s *postgres) queued(path string) (n int, err error) {
	one, err := s.session(counting)
	if err != nil {
		return 0, err
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	err = one.conn.QueryRow(context.Background(), `SELECT count(*) FROM pg_locks
		WHERE locktype = 'advisory' AND (classid::bigint << 32) | objid::bigint = $1`, key(path)).Scan(&n)
	return n, err
}
