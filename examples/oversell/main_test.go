package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Without locks all get the one article that they have seen; with the locks no article
// is sold twice, and none is lost.
func TestRun(t *testing.T) {
	server := zktest.NewServer(t)
	var out bytes.Buffer
	require.NoError(t, program.Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Equal(t, "5 articles, without locks: 12 orders confirmed, 4 articles left, 4 in the carts\n"+
		"5 articles, with both locks: 5 orders confirmed, 0 articles left, 5 in the carts\n", out.String())
	require.Empty(t, server.Sessions())
	out.Reset()
	require.NoError(t, program.Start(t.Context(), nil, &out))
	require.NotEmpty(t, out.String())
}

// A holder that was paused for so long that it lost its locks writes nothing.
func TestLateHolderIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(articles, 1)
	err := s.move(0, []lease.Token{5, 6}, func() {
		left, err := s.stock.read(7) // by the next holder, which has not written yet
		require.NoError(t, err)
		require.Equal(t, articles, left)
	})
	require.ErrorContains(t, err, "stock: token 6 is older than 7")
	require.ErrorContains(t, s.move(0, []lease.Token{5, 6}, t.FailNow), "stock: token 6 is older than 7")
	require.Equal(t, articles, s.stock.last())
	require.Zero(t, s.carts[0].last())
	require.False(t, s.soldOnce())
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, program.Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
}
