package once_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/jobs/report"

func newJob(t *testing.T, c *framework.Client, opts ...once.Option) *once.Job {
	j, err := once.New(c, path, opts...)
	require.NoError(t, err)
	return j
}
