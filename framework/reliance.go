package framework

import (
	"cmp"
	"context"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
	"github.com/zkrecipes/zkrecipes/retry"
)

// A reliance is what Rely returns. It implements internal/kit.Reliance.
type reliance struct{ guard.Relied }

// Rely has the guard make a quorum vouch for the session until the reliance ends.
func (v recipeView) Rely(ctx context.Context, node string, also ...string) (bridge.Reliance, error) {
	c := v.Client
	if c.pinned == nil {
		s, err := c.AwaitSession(ctx)
		if err != nil {
			return nil, err
		}
		c = c.In(s)
	}
	s := c.pinned
	r := new(reliance)
	r.Add(c.full(node))
	for _, node := range also {
		r.Add(c.full(node))
	}
	for {
		if err := cmp.Or(s.Err(), context.Cause(ctx)); err != nil {
			return nil, err
		}
		if s.guard.Rely(&r.Relied) {
			s.granted()
			return r, nil
		}
		var err error
		if s.guard.IsVouched() {
			err = c.awaitRoundTrip(ctx)
		} else {
			err = c.makeVouch(ctx, node, also)
		}
		if err != nil {
			return nil, err
		}
	}
}

// awaitRoundTrip waits until there may have been another round trip through the leader.
func (c *Client) awaitRoundTrip(ctx context.Context) error {
	ctx, cancel := c.lifetime(ctx)
	defer cancel()
	return retry.Sleep(ctx, c.pinned.Timeout()/24)
}

// makeVouch has a transaction committed, unless another call has meanwhile: many may be
// granted their slots at once.
func (c *Client) makeVouch(ctx context.Context, node string, also []string) error {
	s := c.pinned
	if err := s.take(ctx, s.vouching); err != nil {
		return err
	}
	defer func() { <-s.vouching }()
	if s.guard.IsVouched() {
		return nil
	}
	checks := []Op{CheckOp(node, AnyVersion)}
	for _, node := range also {
		checks = append(checks, CheckOp(node, AnyVersion))
	}
	_, err := c.Multi(ctx, checks...)
	return err
}

// OnFailure sets the function that gets what a check has found.
func (r *reliance) OnFailure(failed func(error)) {
	r.Relied.OnFailure(func(code int32) { failed(refusals[code]) })
}
