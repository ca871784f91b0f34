package ports_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/internal/ports"
)

func TestBlocksDoNotOverlapAndAreFree(t *testing.T) {
	owner := map[int]bool{}
	for range 20 {
		b, err := ports.Reserve()
		require.NoError(t, err)
		t.Cleanup(b.Release)
		for i := range ports.Size {
			require.False(t, owner[b.Port(i)], "port %d was handed out twice", b.Port(i))
			owner[b.Port(i)] = true
			l, err := net.Listen("tcp", b.Address(i))
			require.NoError(t, err)
			require.NoError(t, l.Close())
		}
	}
}

func TestPortOutsideTheBlockPanics(t *testing.T) {
	b, err := ports.Reserve()
	require.NoError(t, err)
	defer b.Release()
	require.Panics(t, func() { b.Port(ports.Size) })
	require.Panics(t, func() { b.Port(-1) })
}
