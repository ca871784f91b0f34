// Package owner is how ownership travels in contexts: as a chain of claims, innermost
// first. What they are claims on it does not know.
package owner

import (
	"context"
	"iter"
)

type chainKey struct{}

// A link is one claim in the chain of a context.
type link struct {
	claim any // nil: from here outwards they are those of an owner above, and ctx is a fork's
	outer *link
}

func chain(ctx context.Context) *link {
	l, _ := ctx.Value(chainKey{}).(*link)
	return l
}

// Bind returns a context that has a claim, besides those of ctx.
func Bind(ctx context.Context, claim any) context.Context {
	return context.WithValue(ctx, chainKey{}, &link{claim: claim, outer: chain(ctx)})
}

// Inherit returns ctx with the claims that another context has, in place of its own.
func Inherit(ctx, from context.Context) context.Context {
	claims := chain(from)
	if chain(ctx) == claims {
		return ctx
	}
	return context.WithValue(ctx, chainKey{}, claims)
}

// Without returns a context that has no claims.
func Without(ctx context.Context) context.Context {
	return context.WithValue(ctx, chainKey{}, (*link)(nil))
}

// Fork returns the context of a new owner below the one that ctx belongs to.
func Fork(ctx context.Context) context.Context {
	if chain(ctx) == nil {
		return ctx // whoever acquires with it is a new owner anyway
	}
	return Bind(ctx, nil)
}

// Claims returns those of one type that ctx has, innermost first, and whether each is
// only the claim of an owner above, because ctx is that of a fork.
func Claims[T any](ctx context.Context) iter.Seq2[T, bool] {
	return func(yield func(T, bool) bool) {
		forked := false
		for l := chain(ctx); l != nil; l = l.outer {
			if l.claim == nil {
				forked = true
			} else if claim, ok := l.claim.(T); ok && !yield(claim, forked) {
				return
			}
		}
	}
}
