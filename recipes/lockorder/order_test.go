package lockorder_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInversionIsReported(t *testing.T) {
	t.Parallel()
	onSite(t, func(t *testing.T, s *site) {
		c := s.client("a")
		a, b := s.mutex(c, "/locks/a"), s.mutex(c, "/locks/b")
		s.nest(t.Context(), a, b)
		require.Empty(t, s.order.Cycles())
		s.nest(t.Context(), b, a)
		require.Equal(t, [][]string{{"/locks/a", "/locks/b"}}, s.found())
		require.Equal(t, s.order.Cycles(), s.reported)
		t.Log(s.reported[0])
	})
}
