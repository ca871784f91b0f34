package framework

import (
	"errors"
	"fmt"
)

// CheckExists checks a node on whichever view the Multi is run.
func (v recipeView) CheckExists(path string, unless func() error) Op {
	op := Op{kind: opChecks, path: v.full(path), absolute: true, version: AnyVersion}
	if unless != nil {
		op.unless = &unless
	}
	return op
}

// A refusedHereError is why a Multi was not sent: this process knows that a check
// fails.
type refusedHereError struct {
	index int // of the check
	err   error
}

// Error says which check it is.
func (e *refusedHereError) Error() string { return fmt.Sprintf("ops[%d]: %v", e.index, e.err) }

// Unwrap returns why the check fails.
func (e *refusedHereError) Unwrap() error { return e.err }

// refuseHere asks those who know that a check fails, before each attempt: a lease may
// be released between two.
func refuseHere(ops []Op) error {
	for i, op := range ops {
		if op.unless == nil {
			continue
		}
		if err := (*op.unless)(); err != nil {
			return &refusedHereError{i, err}
		}
	}
	return nil
}

// isRefusedHere reports whether a Multi was not sent for that reason. It is not
// repeated, whatever that is: a lease that is over stays so.
func isRefusedHere(err error) bool {
	var here *refusedHereError
	return errors.As(err, &here)
}

// results are those of a Multi of n operations, as if the server had refused the check.
func (e *refusedHereError) results(n int) []OpResult {
	results := make([]OpResult, n)
	results[e.index].Err = e.err
	for i := e.index + 1; i < n; i++ {
		results[i].Err = ErrNotTried
	}
	return results
}
