package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
)

// remote is the address of the service.
type remote string

// take returns the next job of the queue, or false if there is none.
func (r remote) take(ctx context.Context) (job string, ok bool, err error) {
	job, err = r.call(ctx, "take", "")
	return job, job != "", err
}

// do does a job, which is over when it returns: also when it ends early, with ctx.
func (r remote) do(ctx context.Context, job string) error {
	_, err := r.call(ctx, "do", job)
	return err
}

func (r remote) call(ctx context.Context, what, job string) (string, error) {
	address := fmt.Sprintf("%s/%s?%s", r, what, url.Values{"pid": {strconv.Itoa(os.Getpid())}, "job": {job}}.Encode())
	return example.Post(ctx, address)
}
