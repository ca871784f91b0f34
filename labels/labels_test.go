package labels_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/labels"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestPaths(t *testing.T) {
	for template, tc := range map[string]struct{ matched, others []string }{
		"/locks/orders": {[]string{"/locks/orders"}, []string{"/locks", "/locks/orders/1", "/locks/order", "/"}},
		"/locks/*":      {[]string{"/locks/a", "/locks/ü", "/locks/"}, []string{"/locks", "/locks/a/b", "/", ""}},
		"/*/orders":     {[]string{"/eu/orders"}, []string{"/orders", "/eu/west/orders"}},
		"/t-?/[ab]*":    {[]string{"/t-1/a", "/t-ü/bc"}, []string{"/t-12/a", "/t-1/c"}},
		"/locks/**":     {[]string{"/locks/a", "/locks/a/b", "/locks/a/b/c"}, []string{"/locks", "/lock/a", "/", ""}},
		"/*/x/**":       {[]string{"/a/x/b", "/a/x/b/c"}, []string{"/a/x", "/a/y/b", "/x/a/b"}},
		"/**":           {[]string{"/a", "/a/b", "/"}, nil},
		`/a\*`:          {[]string{"/a*"}, []string{"/ab"}},
	} {
		of, err := labels.Paths(template)
		require.NoError(t, err)
		for _, path := range tc.matched {
			assert.Equal(t, template, of(path), path)
		}
		for _, path := range tc.others {
			assert.Equal(t, labels.Other, of(path), "%s of %s", path, template)
		}
	}
}

func TestTheFirstPathTemplateThatMatches(t *testing.T) {
	of, err := labels.Paths("/locks/orders", "/locks/*", "/**")
	require.NoError(t, err)
	assert.Equal(t, []string{"/locks/orders", "/locks/*", "/**"}, []string{of("/locks/orders"), of("/locks/b"), of("/b/c")})
	none, err := labels.Paths()
	require.NoError(t, err)
	assert.Equal(t, labels.Other, none("/locks"))
}

func TestPathTemplatesThatAreRefused(t *testing.T) {
	for _, template := range []string{"", "locks", "*", "/[a", `/a\`, "/[]/**"} {
		_, err := labels.Paths("/a", template)
		require.ErrorIs(t, err, framework.ErrInvalidArgument, template)
		require.ErrorContains(t, err, fmt.Sprintf("%q", template))
	}
}

func TestAcquire(t *testing.T) {
	alive, ended := context.Background(), canceled(errors.New("the caller's"))
	for name, tc := range map[string]struct {
		ctx  context.Context
		end  framework.AcquireEnd
		want string
	}{
		"granted":                      {alive, framework.AcquireEnd{}, labels.Granted},
		"granted when its context had": {ended, framework.AcquireEnd{}, labels.Granted},
		"re-entered":                   {alive, framework.AcquireEnd{Reentered: true}, labels.Reentered},
		"refused to re-enter":          {alive, framework.AcquireEnd{Reentered: true, Err: errors.New("lost")}, labels.Failed},
		"timeout":                      {alive, framework.AcquireEnd{Err: &lease.TimeoutError{}}, labels.Timeout},
		"deadline":                     {ended, framework.AcquireEnd{Err: &lease.TimeoutError{Cause: context.DeadlineExceeded}}, labels.Timeout},
		"canceled":                     {ended, framework.AcquireEnd{Err: context.Cause(ended)}, labels.Canceled},
		"closed":                       {ended, framework.AcquireEnd{Err: fmt.Errorf("/a: %w", framework.ErrClosed)}, labels.Closed},
		"failed":                       {alive, framework.AcquireEnd{Err: lease.ErrOtherRecipe}, labels.Failed},
		"without a context":            {nil, framework.AcquireEnd{Err: lease.ErrOtherRecipe}, labels.Failed},
	} {
		assert.Equal(t, tc.want, labels.Acquire(tc.ctx, tc.end), name)
	}
}

func canceled(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}

func TestHold(t *testing.T) {
	want := []string{}
	for _, tc := range []struct {
		reason error
		want   string
	}{
		{lease.ErrMemberLost, "member-lost"},
		{lease.ErrDeleted, "deleted"},
		{lease.ErrMaxHold, "max-hold"},
		{lease.ErrSuspended, "suspended"},
		{framework.ErrSessionExpired, "session-expired"},
		{framework.ErrTrustExpired, "trust-expired"},
		{framework.ErrSessionReplaced, "session-replaced"},
		{framework.ErrSessionLost, "session-lost"},
		{framework.ErrNoAuth, "no-auth"},
		{framework.ErrClosed, "closed"},
		{errors.New("new"), "other"},
	} {
		assert.Equal(t, tc.want, labels.Hold(fmt.Errorf("x: %w", &lease.LossError{Reason: tc.reason})))
		assert.Equal(t, labels.ReleaseFailed, labels.Hold(tc.reason), "it was not lost")
		want = append(want, tc.want)
	}
	assert.Equal(t, "member-lost", labels.Hold(&lease.LossError{Reason: fmt.Errorf("%w: %w", lease.ErrMemberLost, lease.ErrDeleted)}))
	assert.Equal(t, want, labels.Losses(), "each can be the label of a hold")
	assert.Equal(t, labels.Released, labels.Hold(nil))
}
