package znode

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
)

// Children lists the children of a node. One that does not exist has none: exists
// tells them apart.
func Children(ctx context.Context, c *framework.Client, path string) (children []string, exists bool, err error) {
	children, _, err = c.Children(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, false, nil
	}
	return children, err == nil, err
}

// List returns the contenders of the given kinds among the children of a node, in
// order.
func List(ctx context.Context, c *framework.Client, path string, kinds ...string) ([]Name, error) {
	children, _, err := Children(ctx, c, path)
	if err != nil {
		return nil, err
	}
	return Contenders(children, kinds...), nil
}
