package inspect_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// path is what is surveyed.
const path = "/locks/orders"

// survey surveys the path.
func survey(t *testing.T, c *framework.Client) *inspect.Survey {
	t.Helper()
	s, err := inspect.Path(t.Context(), c, path)
	require.NoError(t, err)
	return s
}

// states returns the queues with their positions, kinds and states.
func states(s *inspect.Survey) (all []string) {
	for _, q := range s.Queues {
		for i, c := range q.Contenders {
			all = append(all, fmt.Sprint(q.Recipe, " ", i+1, " ", c.Kind, " ", c.State))
		}
	}
	return all
}

// create makes nodes below the path as another client would, each with a label as data.
func create(t *testing.T, c *framework.Client, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, c.CreateParents(t.Context(), path+"/"+name))
		_, err := c.Create(t.Context(), path+"/"+name, []byte("me"), framework.Ephemeral)
		require.NoError(t, err)
	}
}

// foreign makes a sequential node as another client would, with data that say nothing.
func foreign(t *testing.T, c *framework.Client, path string) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), path))
	_, err := c.Create(t.Context(), path, []byte("10.0.0.1"), framework.EphemeralSequential)
	require.NoError(t, err)
}
