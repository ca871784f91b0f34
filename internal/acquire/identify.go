package acquire

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An inquiry is the cause of an ended context that asks what would be acquired.
type inquiry struct{ recipe *Recipe }

// Error says that it is no failure.
func (*inquiry) Error() string { return "asked what would be acquired" }

// answer answers an inquiry, if ctx is one.
func (r *Recipe) answer(ctx context.Context) error {
	asked := inquiryOf(ctx)
	if asked == nil {
		return nil
	}
	asked.recipe = r
	return asked
}

// inquiryOf returns the inquiry that ctx is, nil if it is none.
func inquiryOf(ctx context.Context) *inquiry {
	if ctx.Err() == nil {
		return nil // without an allocation
	}
	var asked *inquiry
	errors.As(context.Cause(ctx), &asked)
	return asked
}

// Identify returns the recipe that an Acquirer acquires, also one that another Acquirer
// wraps. It sends nothing: the context that it calls Acquire with has ended. The error
// is an ErrInvalidArgument if there is no such recipe.
func Identify(a lease.Acquirer) (*Recipe, error) {
	if a == nil {
		return nil, fmt.Errorf("%w: a nil lease.Acquirer", framework.ErrInvalidArgument)
	}
	asked := new(inquiry)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(asked)
	held, err := a.Acquire(ctx, 0)
	switch {
	case asked.recipe != nil:
		return asked.recipe, nil
	case err == nil:
		_ = held.Release()
	default:
		return nil, fmt.Errorf("%w: %T does not acquire a lock of this library: %w", framework.ErrInvalidArgument, a, err)
	}
	return nil, fmt.Errorf("%w: %T does not acquire a lock of this library", framework.ErrInvalidArgument, a)
}

// IsRecipe reports whether an Acquirer is a recipe of this library itself, and not a
// type around one, which may do more.
func IsRecipe(a lease.Acquirer) bool {
	t := reflect.TypeOf(a)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	pkg, recipes := t.PkgPath(), path.Dir(reflect.TypeFor[lease.Lease]().PkgPath())
	return path.Dir(pkg) == recipes && !strings.HasSuffix(pkg, "_test")
}

// IsInquiry reports whether ctx is one of Identify.
func IsInquiry(ctx context.Context) bool { return inquiryOf(ctx) != nil }
