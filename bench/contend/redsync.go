package contend

import (
	"context"
	"errors"
	"fmt"
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
}

func openRedsync(config Config) (system, error) {
	client := redis.NewClient(&redis.Options{Addr: config.Server})
	return &redsyncLocks{client, redsync.New(goredis.NewPool(client))}, client.Ping(context.Background()).Err()
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

func (s *redsyncLocks) queued(string) (int, error) { return -1, nil }
