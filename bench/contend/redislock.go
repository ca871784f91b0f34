package contend

import (
	"context"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// redislocks are redislock's, on one server: no queue, and no word to who waits.
type redislocks struct {
	client *redis.Client
	locks  *redislock.Client
	ttl    time.Duration // of locks that are kept
}

func openRedislock(config Config) (system, error) {
	client := redis.NewClient(&redis.Options{Addr: config.Server})
	return &redislocks{client, redislock.New(client), config.Session}, client.Ping(context.Background()).Err()
}

func (s *redislocks) close() { _ = s.client.Close() }

// obtain waits. Without a deadline of the context, redislock would give up after the TTL.
func (s *redislocks) obtain(path string, ttl time.Duration) (*redislock.Lock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	return s.locks.Obtain(ctx, path, ttl, &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)})
}

func (s *redislocks) locker(kind, path string, _ int) (locker, error) {
	if kind != "mutex" {
		return nil, fmt.Errorf("redislock has no %s", kind)
	}
	var held *redislock.Lock
	return functions{
		func() (err error) {
			held, err = s.obtain(path, time.Minute)
			return err
		},
		func() error { return held.Release(context.Background()) },
	}, nil
}

// keep refreshes the lock, and asks the server for how long it is held.
func (s *redislocks) keep(path string) (held func() bool, err error) {
	l, err := s.obtain(path, s.ttl)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	go func() {
		for range time.Tick(s.ttl / 3) {
			_ = l.Refresh(ctx, s.ttl, nil) // an error may be followed by a success
		}
	}()
	return func() bool {
		left, err := l.TTL(ctx)
		return err == nil && left > 0
	}, nil
}

func (s *redislocks) queued(string) (int, error) { return -1, nil }
