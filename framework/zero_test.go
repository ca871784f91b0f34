package framework_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Every method of a zero or nil value says what is wrong: in the error that it returns,
// or in a panic if it returns none.
func TestZeroValuesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, zero := range []any{
		new(framework.Client), (*framework.Client)(nil), new(framework.Session), (*framework.Session)(nil), new(framework.Watch), (*framework.Watch)(nil),
	} {
		v := reflect.ValueOf(zero)
		require.Positive(t, v.NumMethod())
		for i := range v.NumMethod() {
			err := call(t, v.Method(i))
			name := v.Type().Elem().String()
			assert.ErrorIs(t, err, framework.ErrInvalidArgument, "%s.%s", name, v.Type().Method(i).Name)
			assert.ErrorContains(t, err, "a nil or zero "+name+": ")
			assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
		}
	}
}

// call calls a method with arguments that are right by themselves. It returns the
// method's error, or if it returns none that of its panic.
func call(t *testing.T, method reflect.Value) (err error) {
	t.Helper()
	ours := map[reflect.Type]any{
		reflect.TypeFor[context.Context](): t.Context(), reflect.TypeFor[string](): "/x",
		reflect.TypeFor[[]framework.ACL](): framework.WorldACL(framework.PermAll), reflect.TypeFor[framework.Mode](): framework.Ephemeral,
	}
	var args []reflect.Value
	for i := range method.Type().NumIn() {
		if arg, ok := ours[method.Type().In(i)]; ok {
			args = append(args, reflect.ValueOf(arg))
		} else if !method.Type().IsVariadic() || i < method.Type().NumIn()-1 {
			args = append(args, reflect.Zero(method.Type().In(i)))
		}
	}
	results := method.Type().NumOut()
	if results == 0 || method.Type().Out(results-1) != reflect.TypeFor[error]() {
		defer func() { err, _ = recover().(error) }()
	}
	out := method.Call(args)
	require.NotEmpty(t, out)
	err, _ = out[len(out)-1].Interface().(error)
	for _, value := range out[:len(out)-1] {
		assert.True(t, value.IsZero())
	}
	return err
}

func TestThereIsNoKitOfAZeroClient(t *testing.T) {
	t.Parallel()
	for _, c := range []*framework.Client{nil, {}} {
		err := kit.Usable(c)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		assert.PanicsWithError(t, err.Error(), func() { kit.Of(c) })
	}
}

// A session that no client made ends what is tried in it.
func TestViewPinnedToAZeroSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s).In(new(framework.Session))
		_, _, err := c.Get(t.Context(), "/")
		assert.ErrorContains(t, err, "a nil or zero framework.Session: ")
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
		_, err = c.CreateProtected(t.Context(), "/n-", nil, framework.Ephemeral)
		assert.ErrorIs(t, err, framework.ErrInvalidArgument)
	})
}
