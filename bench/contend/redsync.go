package contend

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// redsyncLocks are redsync's mutexes on one server: no queue, no session, and no word
// to who waits.
type redsyncLocks struct {
	client *redis.Client
	sync   *redsync.Redsync
	expiry time.Duration // of locks that are kept
}

func openRedsync(config Config) (system, error) {
	client := redis.NewClient(&redis.Options{Addr: config.Server})
	return &redsyncLocks{client, redsync.New(goredis.NewPool(client)), config.Session}, client.Ping(context.Background()).Err()
}

func (s *redsyncLocks) close() { _ = s.client.Close() }

func (s *redsyncLocks) locker(kind, path string, _ int) (locker, error) {
	if kind != "mutex" {
		return nil, fmt.Errorf("redsync has no %s", kind)
	}
	m := s.sync.NewMutex(path, redsync.WithExpiry(time.Minute), redsync.WithTries(1<<30))
	return functions{m.Lock, func() error {
		ok, err := m.Unlock()
		if err == nil && !ok {
			err = errors.New("the lock was not held")
		}
		return err
	}}, nil
}

// keep extends the lock, and looks until when it is held.
func (s *redsyncLocks) keep(path string) (held func() bool, err error) {
	m := s.sync.NewMutex(path, redsync.WithExpiry(s.expiry), redsync.WithTries(1<<30))
	if err := m.Lock(); err != nil {
		return nil, err
	}
	var until atomic.Pointer[time.Time]
	store := func() {
		u := m.Until()
		until.Store(&u)
	}
	store()
	go func() {
		for range time.Tick(s.expiry / 3) {
			var taken *redsync.ErrTaken
			switch ok, err := m.Extend(); {
			case ok:
				store()
			case errors.As(err, &taken):
				until.Store(&time.Time{})
			} // another error may be followed by a success
		}
	}()
	return func() bool { return time.Now().Before(*until.Load()) }, nil
}

func (s *redsyncLocks) queued(string) (int, error) { return -1, nil }
