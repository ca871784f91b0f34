package example_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
)

// All who wait look again at each change, and a failure or the end of their context
// ends the wait.
func TestState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s example.State
		n := 0
		wait := func(ctx context.Context, until int) <-chan error {
			ended := make(chan error, 1)
			go func() { ended <- s.Await(ctx, func() bool { return n >= until }) }()
			synctest.Wait()
			return ended
		}
		one, two := wait(t.Context(), 1), wait(t.Context(), 2)
		s.Change(func() { n++ })
		require.NoError(t, <-one)
		synctest.Wait()
		require.Empty(t, two)
		s.Change(func() { n++ })
		require.NoError(t, <-two)
		require.NoError(t, <-wait(t.Context(), 2), "it is so already")

		ctx, cancel := context.WithCancelCause(t.Context())
		never, failed := wait(ctx, 9), wait(t.Context(), 9)
		cancel(errRun)
		require.ErrorIs(t, <-never, errRun)
		errFirst := errors.New("the first")
		s.Change(func() { s.Failure = errFirst })
		require.ErrorIs(t, <-failed, errFirst)
		require.ErrorIs(t, <-wait(t.Context(), 0), errFirst)
	})
}

// A report arrives, and what its receiver has against it comes back.
func TestReports(t *testing.T) {
	t.Parallel()
	url, stop, err := example.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http.MethodPost, r.Method)
		if r.URL.Path == "/late" {
			http.Error(w, "too late", http.StatusConflict)
			return
		}
		_, _ = io.WriteString(w, r.FormValue("job")+"\n")
	}))
	require.NoError(t, err)
	text, err := example.Post(t.Context(), url+"/do?job=7")
	require.NoError(t, err)
	require.Equal(t, "7", text)
	_, err = example.Post(t.Context(), url+"/late")
	require.EqualError(t, err, "too late")
	stop()
	_, err = example.Post(t.Context(), url)
	require.ErrorContains(t, err, "refused")
}

// A process ends with its input.
func TestWhileOpen(t *testing.T) {
	t.Parallel()
	in, input := io.Pipe()
	ctx, cancel := example.WhileOpen(t.Context(), in)
	defer cancel()
	_, err := input.Write([]byte("anything"))
	require.NoError(t, err)
	require.NoError(t, ctx.Err())
	require.NoError(t, input.Close())
	<-ctx.Done()
}
