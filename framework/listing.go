package framework

import "context"

// CreateSent tells when a protected create is sent.
func (v recipeView) CreateSent(ctx context.Context, path string, data []byte, mode Mode, sent func()) (Created, error) {
	return v.createProtected(ctx, path, data, mode, sent, nil)
}

// GoChildren lists children in a goroutine of the session.
func (v recipeView) GoChildren(ctx context.Context, path string, done func(children []string, err error)) bool {
	l := &listing{ctx, *v.Client, path, done}
	l.client.pinned, l.client.once = v.Session(), true
	return l.client.pinned.tasks.do(l)
}

// A listing is what such a goroutine does.
type listing struct {
	ctx    context.Context
	client Client
	path   string
	done   func(children []string, err error)
}

func (l *listing) run() {
	children, _, err := childrenReading.plain(l.ctx, &l.client, l.path)
	l.done(children, err)
}
