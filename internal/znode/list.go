package znode

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
)

// Children lists the children of a node: none, and exists is false, if it does not
// exist.
func Children(ctx context.Context, c *framework.Client, path string) (children []string, exists bool, err error) {
	children, _, err = c.Children(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, false, nil
	}
	return children, err == nil, err
}
