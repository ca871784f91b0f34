// Package owner keeps the ownership of holds in contexts, as a chain of claims, the
// innermost first. It does not know what the claims are.
package owner

import (
	"context"
	"iter"
)

type chainKey struct{}

// A link is one claim in the chain of a context.
type link struct {
	claim any // nil: ctx is a fork's; the claims further out are those of an owner above
	outer *link
}

func chain(ctx context.Context) *link {
	l, _ := ctx.Value(chainKey{}).(*link)
	return l
}

// Bind returns a context with a claim and those of ctx.
func Bind(ctx context.Context, claim any) context.Context {
	return &bound{ctx, link{claim: claim, outer: chain(ctx)}}
}

// A bound is a context with one more claim than its parent.
type bound struct {
	context.Context
	own link
}

// Value returns the chain of claims.
func (b *bound) Value(key any) any {
	if key == (chainKey{}) {
		return &b.own
	}
	return b.Context.Value(key)
}

// Inherit returns ctx with the claims of another context in place of its own.
func Inherit(ctx, from context.Context) context.Context {
	claims := chain(from)
	if chain(ctx) == claims {
		return ctx
	}
	return context.WithValue(ctx, chainKey{}, claims)
}

// Without returns a context without claims.
func Without(ctx context.Context) context.Context {
	return context.WithValue(ctx, chainKey{}, (*link)(nil))
}

// Fork returns the context of a new owner below the one that ctx belongs to.
func Fork(ctx context.Context) context.Context {
	if chain(ctx) == nil {
		return ctx // an acquire with it has a new owner anyway
	}
	return Bind(ctx, nil)
}

// Claims returns the claims of one type that ctx has, the innermost first, and for each
// whether it is the claim of an owner above, because ctx is a fork's.
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
