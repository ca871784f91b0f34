package leasetest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A subject is what the rows are run on: a fake, or the recipe that it stands for.
type subject struct {
	*conformance.World
	a       lease.Acquirer
	permits int
	lose    func(*lease.Lease) // for lease.ErrDeleted
	request func(*lease.Lease) // its revocation
}

func fake(w *conformance.World, permits int) subject {
	a := &leasetest.Acquirer{Permits: permits}
	return subject{
		World: w, a: a, permits: max(permits, 1),
		lose:    func(*lease.Lease) { a.Lose(lease.ErrDeleted) },
		request: func(*lease.Lease) { a.RequestRevocation() },
	}
}

func recipe(w *conformance.World, a lease.Acquirer, permits int) subject {
	operator := w.Client("operator")
	return subject{
		World: w, a: a, permits: permits,
		lose: func(held *lease.Lease) { w.Remove(operator, held.Path()); w.Settle() },
		request: func(held *lease.Lease) {
			require.NoError(w.T, lease.RequestRevocation(w.T.Context(), operator, held.Path()))
			w.Settle()
		},
	}
}

// The fake passes the rows that the recipe passes.
func TestFakeAndRecipeBehaveTheSame(t *testing.T) {
	const path = "/locks/orders"
	for name, tc := range map[string]struct {
		rows map[string]func(*testing.T, subject)
		make func(t *testing.T, w *conformance.World) subject
	}{
		"fake mutex": {mutexRows(), func(_ *testing.T, w *conformance.World) subject { return fake(w, 0) }},
		"mutex": {mutexRows(), func(t *testing.T, w *conformance.World) subject {
			m, err := mutex.New(w.Client("a"), path)
			require.NoError(t, err)
			return recipe(w, m, 1)
		}},
		"fake semaphore": {rows, func(_ *testing.T, w *conformance.World) subject { return fake(w, 2) }},
		"semaphore": {rows, func(t *testing.T, w *conformance.World) subject {
			s, err := semaphore.New(w.Client("a"), path, 2)
			require.NoError(t, err)
			return recipe(w, s, 2)
		}},
	} {
		for row, test := range tc.rows {
			t.Run(name+": "+row, func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) { test(t, tc.make(t, w)) })
			})
		}
	}
}

// fill acquires all permits, and waits until a recipe has set its watches.
func (s subject) fill() (all []*lease.Lease) {
	s.T.Helper()
	for range s.permits {
		all = append(all, s.Acquire(s.a))
	}
	s.After(100e6)
	return all
}

func release(t *testing.T, held ...*lease.Lease) {
	t.Helper()
	for _, l := range held {
		require.NoError(t, l.Release())
	}
}
