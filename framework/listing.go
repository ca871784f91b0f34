package framework

import (
	"context"
	"sync"

	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
)

// CreateSent tells when a protected create is sent.
func (v recipeView) CreateSent(ctx context.Context, path string, data []byte, mode Mode, sent func(), opts ...CreateOption) (Created, error) {
	return v.createProtected(ctx, path, data, mode, sent, opts)
}

// GoChildren lists children in a task of the session.
func (v recipeView) GoChildren(ctx context.Context, path string, done func(children []string, err error)) bool {
	l := &listing{ctx, *v.Client, path, done}
	l.client.pinned, l.client.once, l.client.inTask = v.Session(), true, true
	return l.client.pinned.tasks.do(l)
}

// A listing is the task of listing children.
type listing struct {
	ctx    context.Context
	client Client
	path   string
	done   func(children []string, err error)
}

func (l *listing) run() {
	children, _, err := childrenReading.with(l.ctx, &l.client, request[watched[[]string]]{path: l.path})
	l.done(children, err)
}

// CreateListed lists the parent's children behind a protected create.
func (v recipeView) CreateListed(ctx context.Context, path string, data []byte, mode Mode, opts ...CreateOption) (Created, bridge.Listing, error) {
	s, err := v.AwaitSession(ctx)
	if err != nil {
		return Created{}, bridge.Listing{}, &OpError{Op: "create", Path: path, Outcome: Failed, Err: err}
	}
	if v.pinned != s {
		v = recipeView{v.In(s)}
	}
	listed := make(chan bridge.Listing, 1)
	list := sync.OnceFunc(func() {
		started := v.GoChildren(s.ctx, parentOf(path), func(children []string, err error) { listed <- bridge.Listing{Children: children, Err: err} })
		if !started {
			listed <- bridge.Listing{Err: context.Cause(s.ctx)}
		}
	})
	made, err := v.createProtected(ctx, path, data, mode, list, opts)
	if err != nil {
		return Created{}, bridge.Listing{}, err
	}
	list() // a node that was found again was perhaps never seen being sent
	select {
	case l := <-listed:
		return made, l, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-s.ctx.Done():
		err = context.Cause(s.ctx)
	}
	return made, bridge.Listing{Err: &OpError{Op: "children", Path: parentOf(path), Session: s.ID(), Outcome: Unknown, Err: err}}, nil
}
