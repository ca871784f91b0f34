package lease_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestHolderString(t *testing.T) {
	t.Parallel()
	require.Empty(t, lease.Holder{}.String())
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Equal(t, "backup (db1, pid 7, since 2026-01-02T03:04:05Z)", lease.Holder{"backup", "db1", 7, since}.String())
	require.Equal(t, "backup (db1, pid 7)", lease.Holder{Who: "backup", Host: "db1", PID: 7}.String())
}

func TestTimeoutErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("no server")
	holder := lease.Holder{Who: "backup", Host: "db1", PID: 7}
	cases := map[string]*lease.TimeoutError{
		"/a: not acquired in time":                                                  {Path: "/a", Ahead: -1},
		"/a: not acquired in time: waited 1.5s":                                     {Path: "/a", Ahead: -1, Waited: 1500 * time.Millisecond},
		"/a: not acquired in time: waited 2s, 3 ahead, held by node x":              {Path: "/a", Ahead: 3, Waited: 2 * time.Second, Node: "x"},
		"/a: not acquired in time: waited 2s, 3 ahead, held by backup (db1, pid 7)": {Path: "/a", Ahead: 3, Waited: 2 * time.Second, Node: "x", Holder: holder},
		"/a: not acquired in time: waited 2s; last failure: no server":              {Path: "/a", Ahead: -1, Waited: 2 * time.Second, Err: cause},
		"/a: not acquired in time, 1 ahead, held by node _c_0-lock-0000000000":      {Path: "/a", Ahead: 1, Node: "_c_0-lock-0000000000"},
	}
	for want, err := range cases {
		require.Equal(t, want, err.Error())
		require.ErrorIs(t, err, lease.ErrTimeout)
		require.Equal(t, err.Err != nil, errors.Is(err, cause))
	}
}

// Users who ask a net.Error whether it was a timeout ask this one in the same way.
func TestTimeoutErrorIsATimeout(t *testing.T) {
	t.Parallel()
	var err interface{ Timeout() bool }
	require.ErrorAs(t, fmt.Errorf("lock: %w", &lease.TimeoutError{Path: "/a"}), &err)
	require.True(t, err.Timeout())
}
