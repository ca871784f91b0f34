package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

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
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/%s?%s", r.url, what, query.Encode()), http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(strings.TrimSpace(string(text)))
	}
	return err
}

// whileOpen returns a context that ends with ctx, and at the end of an input: when the
// process does that has started this one.
func whileOpen(ctx context.Context, in io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx
}
