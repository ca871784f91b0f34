package framework

import (
	"context"
	"errors"
)

// CreateEach makes one node at each of several paths, in one transaction.
func (v recipeView) CreateEach(ctx context.Context, paths []string, data [][]byte, behind func()) ([]Created, error) {
	each := make([]*protected, len(paths))
	ops := make([]Op, len(paths))
	for i, path := range paths {
		p, err := v.protect(ctx, path, EphemeralSequential)
		if err != nil {
			return nil, err
		}
		each[i] = p
		ops[i] = CreateOp(p.path, data[i], EphemeralSequential, WithACL(v.core.cfg.protectedACL(v.full(p.path))))
	}
	late := func(made []string, outcome Outcome) {
		each[0].late(made, outcome) // which deletes what is known to be made
		for _, p := range each[1:] {
			p.late(nil, outcome)
		}
	}
	zxid, results, err := each[0].client.multi(ctx, ops, behind, late)
	if left := (leftError{}); err != nil {
		if OutcomeOf(err) == Unknown && !errors.As(err, &left) {
			late(nil, Unknown)
		}
		return nil, err
	}
	made := make([]Created, len(paths))
	for i, p := range each {
		made[i] = Created{Path: results[i].Path, Czxid: zxid, Session: p.session.ID()}
	}
	return made, nil
}
