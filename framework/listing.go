package framework

import "context"

// CreateSent tells when a protected create is sent.
func (v recipeView) CreateSent(ctx context.Context, path string, data []byte, mode Mode, sent func()) (Created, error) {
	return v.createProtected(ctx, path, data, mode, sent, nil)
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
