package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// jobInterval is that of the jobs that are counted.
const jobInterval = 5 * time.Millisecond

// reports tell the program that counts what an instance does. They are not cut short
// when the work is, so they arrive in the order in which they are sent.
type reports struct{ url, id string }

// term reports when the work of a term begins, and when it has ended.
func (r reports) term(work func(context.Context, *lease.Lease) error) func(context.Context, *lease.Lease) error {
	return func(ctx context.Context, term *lease.Lease) error {
		if err := r.send(ctx, "begin", term.Token(), ""); err != nil {
			return err
		}
		err := work(ctx, term)
		how := ended
		if errors.Is(term.Err(), lease.ErrLost) {
			how = lost
		}
		return errors.Join(err, r.send(ctx, "end", term.Token(), how))
	}
}

// job is the job of the leader.
func (r reports) job(ctx context.Context, token lease.Token) error {
	return r.send(ctx, "job", token, "")
}

func (r reports) send(ctx context.Context, what string, token lease.Token, how string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tooLong)
	defer cancel()
	query := url.Values{"id": {r.id}, "token": {token.String()}, "how": {how}}
	_, err := example.Post(ctx, fmt.Sprintf("%s/%s?%s", r.url, what, query.Encode()))
	return err
}
