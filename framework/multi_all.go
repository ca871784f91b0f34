package framework

import "errors"

// AllOf is one operation that stands for several.
func (v recipeView) AllOf(ops ...Op) Op { return Op{kind: opAll, all: &ops} }

// A transaction is what is sent of the operations of a Multi: in place of one that
// stands for several it has these.
type transaction struct {
	ops   []Op
	of    []int // for each, the index of the operation given that it belongs to
	given int   // how many were given
}

// transactionOf returns a copy of the operations.
func transactionOf(given []Op) transaction {
	t := transaction{ops: make([]Op, 0, len(given)), of: make([]int, 0, len(given)), given: len(given)}
	for i, op := range given {
		t.add(i, op)
	}
	return t
}

func (t *transaction) add(i int, op Op) {
	if op.kind != opAll {
		t.ops, t.of = append(t.ops, op), append(t.of, i)
		return
	}
	for _, one := range *op.all {
		t.add(i, one)
	}
}

// results returns one result for each operation given. That of one that stands for
// several has the error of the one that failed.
func (t transaction) results(sent []OpResult) []OpResult {
	if sent == nil {
		return nil
	}
	results := make([]OpResult, t.given)
	for i, r := range sent {
		at := &results[t.of[i]]
		if failed := at.Err; failed == nil || errors.Is(failed, ErrNotTried) {
			*at = r
		}
	}
	return results
}
