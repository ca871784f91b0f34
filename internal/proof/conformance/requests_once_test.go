package conformance_test

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// do runs a key of a job.
func do(w *world, client, key string, opts ...once.Option) {
	run := must(once.New(w.Named(client), at, opts...)).Key(key)
	require.NoError(w.T, run.Do(w.T.Context(), func(context.Context, *lease.Lease) error { return nil }))
}

// newRun runs a key that nobody has run, of a job that is in use.
func newRun(w *world) price { return newRunWith(w) }

func newRunWith(w *world, opts ...once.Option) price {
	do(w, "a", "other", opts...)
	return pay(w, func() { do(w, "a", "key", opts...) })
}

// oldRun runs one that is recorded.
func oldRun(w *world) price {
	do(w, "a", "key")
	return pay(w, func() { do(w, "a", "key") })
}

// runs acquires a key of a job.
func runs(c *framework.Client, path string) lease.Acquirer { return must(once.New(c, path)).Key("key") }
