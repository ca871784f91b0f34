package main

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	server := zktest.NewServer(t)
	var out bytes.Buffer
	require.NoError(t, program.Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Regexp(t, `^160 pieces in 1 shares: 160 sold, 40 refused, \d+ sales a second
160 pieces in 4 shares: 160 sold, 40 refused, \d+ sales a second
160 pieces in 16 shares: 160 sold, 40 refused, \d+ sales a second
no piece was sold twice, and no share had two sellers at once
$`, out.String())
	require.Empty(t, server.Sessions())
	out.Reset()
	require.NoError(t, program.Start(t.Context(), nil, &out))
	require.NotEmpty(t, out.String())
}

// Customers who find shares sold out go on to the others, until the last piece of the
// last share is sold. Nobody is refused before that.
func TestShares(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	for name, left := range map[string][]int{
		"the last one has all": {0, 0, 0, 30}, "one has much more": {2, 40, 2}, "a piece each": {1, 1, 1, 1, 1, 1, 1, 1},
		"more than there are customers": {customers, customers}, "nothing": {0, 0},
	} {
		s, pieces := newStock(0, len(left)), 0
		for i, n := range left {
			s.shares[i].left = n
			pieces += n
		}
		sold, refused, err := flashSale(t.Context(), []string{server.Addr()}, s)
		require.NoError(t, err, name)
		require.Equal(t, min(pieces, customers), sold, name)
		require.Equal(t, customers-sold, refused, name)
		require.Equal(t, pieces-sold, s.left(), name)
		require.LessOrEqual(t, s.most(), 1, name)
	}
}

// The stock is divided without a rest.
func TestNewStock(t *testing.T) {
	t.Parallel()
	for _, shares := range []int{1, 3, 16, 500} {
		require.Equal(t, pieces, newStock(pieces, shares).left())
	}
}

// What the example shows would be seen if it were not so: without locks two sell at
// once, and sell the same piece.
func TestSellersWithoutLocksAreSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // so that both begin before the store is done with one
		s := newStock(1, 1)
		require.NoError(t, together(2, func() error {
			sold, err := s.shares[0].sell(t.Context(), 1)
			assert.True(t, sold)
			return err
		}))
		require.Equal(t, 2, s.most())
	})
}

// A holder that was paused for so long that it lost its lock sells nothing.
func TestLateHolderIsRefused(t *testing.T) {
	t.Parallel()
	s := newStock(2, 1)
	sold, err := s.shares[0].sell(t.Context(), 7)
	require.NoError(t, err)
	require.True(t, sold)
	sold, err = s.shares[0].sell(t.Context(), 6)
	require.ErrorContains(t, err, "share 0: token 6 is older than 7")
	require.False(t, sold)
	require.NoError(t, s.shares[0].accept(8)) // the next holder is about to read
	require.ErrorContains(t, s.shares[0].write(0, 7), "share 0: token 7 is older than 8")
	require.Equal(t, 1, s.left())
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, program.Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
	require.Error(t, program.Start(t.Context(), []string{"--nonsense"}, &bytes.Buffer{}))
}
