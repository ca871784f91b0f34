package conformance

import (
	"iter"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Rows in which the recipe's New was not called, or got no client.
var zeros = rows{
	"a zero value is used":   zeroValue,
	"New is given no client": noClient,
}

// noClient calls New with no client. Recipe.New panics with its error.
func noClient(t *testing.T, _ *World, r Recipe) {
	for _, none := range []*framework.Client{nil, {}} {
		requirePanic(t, "make one with framework.Connect", func() { r.New(none, path) })
	}
}

// zeroValue calls each method of the nil pointer to the recipe's type, of its zero
// value, and of the zero value of what Recipe.New returns. None may run into the nil
// pointer.
func zeroValue(t *testing.T, w *World, r Recipe) {
	require.NotNil(t, r.Zero, "Recipe.Zero is required")
	a := r.New(w.Client("a"), path)
	if async, ok := a.(asyncAcquirer); ok {
		a = async.Acquirer
	}
	made := reflect.TypeOf(a)
	for _, v := range []reflect.Value{reflect.ValueOf(r.Zero), reflect.Zero(reflect.TypeOf(r.Zero)), reflect.Zero(made)} {
		for i := range v.NumMethod() {
			method := v.Method(i)
			t.Log(v.Type(), v.Type().Method(i).Name)
			args := make([]reflect.Value, method.Type().NumIn())
			for i := range args {
				args[i] = reflect.Zero(method.Type().In(i))
				if i == 0 && args[i].Kind() == reflect.Interface {
					args[i] = reflect.ValueOf(t.Context())
				}
			}
			call := method.Call
			if method.Type().IsVariadic() {
				call = method.CallSlice
			}
			requireNotMade(t, func() []reflect.Value { return call(args) })
		}
	}
}

// requireNotMade requires that a call returns an error that names New, or an Acquirer
// or a sequence that does, and that it panics with that error if it returns none.
func requireNotMade(t *testing.T, call func() []reflect.Value) {
	t.Helper()
	var results []reflect.Value
	requirePanic(t, "make one with", func() {
		results = call()
		switch last := results[len(results)-1].Interface().(type) {
		case error:
			panic(last)
		case lease.Acquirer:
			_, err := last.Acquire(t.Context(), 0)
			panic(err)
		case iter.Seq2[lease.Contender, error]:
			for _, err := range last {
				panic(err)
			}
		}
	})
	for _, result := range results[:max(0, len(results)-1)] {
		require.True(t, result.IsZero(), "%v", result)
	}
}

// requirePanic requires that f panics with a framework.ErrInvalidArgument that says
// why.
func requirePanic(t *testing.T, why string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, _ := recover().(error)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		require.ErrorContains(t, err, why)
	}()
	f()
}
