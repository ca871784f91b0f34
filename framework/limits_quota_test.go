package framework

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Whatever happens, the quota counts exactly the session's nodes.
func TestQuotaCountsTheNodesThatExist(t *testing.T) {
	t.Parallel()
	type scene struct {
		*testing.T
		s        *zktest.Server
		c, other *Client
	}
	lost := func(s *zktest.Server, op zktest.Op) { s.On(op, "").Client("client").After().Cut() }
	exchange := func(x scene, others ...Op) error {
		_, err := recipeView{x.c}.CreateProtectedAll(x.Context(), "/n-", nil, 3, nil, others...)
		return err
	}
	for name, happens := range map[string]func(x scene){
		"nothing": func(scene) {},
		"created": func(x scene) { _, err := x.c.Create(x.Context(), "/e", nil, Ephemeral); require.NoError(x, err) },
		"exists": func(x scene) {
			_, err := x.c.Create(x.Context(), "/old", nil, Ephemeral)
			require.ErrorIs(x, err, ErrNodeExists)
		},
		"deleted":        func(x scene) { require.NoError(x, x.c.Delete(x.Context(), "/old", AnyVersion)) },
		"delete refused": func(x scene) { require.ErrorIs(x, x.c.Delete(x.Context(), "/old", 7), ErrBadVersion) },
		"persistent":     func(x scene) { require.NoError(x, x.c.Delete(x.Context(), "/persistent", AnyVersion)) },
		"gone when looked": func(x scene) {
			require.NoError(x, x.other.Delete(x.Context(), "/old", AnyVersion))
			require.ErrorIs(x, x.c.Delete(x.Context(), "/old", AnyVersion), ErrNoNode)
		},
		"deleted by another": func(x scene) {
			_, _, _, err := x.c.GetWatch(x.Context(), "/old")
			require.NoError(x, err)
			require.NoError(x, x.other.Delete(x.Context(), "/old", AnyVersion))
		},
		"changed by another": func(x scene) {
			_, _, _, err := x.c.GetWatch(x.Context(), "/old")
			require.NoError(x, err)
			_, err = x.other.Set(x.Context(), "/old", []byte("x"), AnyVersion)
			require.NoError(x, err)
		},
		"exchanged": func(x scene) { require.NoError(x, exchange(x, DeleteOp("/old", AnyVersion))) },
		"exchanged, answer dropped": func(x scene) {
			lost(x.s, zktest.OpMulti)
			require.NoError(x, exchange(x, DeleteOp("/old", AnyVersion)))
		},
		"checked": func(x scene) { require.NoError(x, exchange(x, CheckOp("/old", AnyVersion))) },
		"checked, answer dropped": func(x scene) {
			lost(x.s, zktest.OpMulti)
			require.NoError(x, exchange(x, CheckOp("/old", AnyVersion), SetOp("/old", nil, AnyVersion)))
		},
		"not exchanged": func(x scene) {
			require.ErrorIs(x, exchange(x, DeleteOp("/old", AnyVersion), DeleteOp("/missing", AnyVersion)), ErrNoNode)
		},
		"multi": func(x scene) {
			_, err := x.c.Multi(x.Context(), DeleteOp("/old", AnyVersion), CreateOp("/e", nil, Ephemeral), CreateOp("/p", nil, Persistent))
			require.NoError(x, err)
		},
		"multi refused": func(x scene) {
			_, err := x.c.Multi(x.Context(), DeleteOp("/old", AnyVersion), CreateOp("/e", nil, Ephemeral), CheckOp("/missing", 0))
			require.ErrorIs(x, err, ErrNoNode)
		},
		"protected, answer dropped": func(x scene) {
			lost(x.s, zktest.OpCreate)
			_, err := x.c.CreateProtected(x.Context(), "/n-", nil, EphemeralSequential)
			require.NoError(x, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := scene{T: t, s: zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))}
				for client, as := range map[**Client]string{&x.c: "client", &x.other: "other"} {
					c, err := Connect(t.Context(), Config{
						Servers: []string{x.s.Addr()}, Dial: x.s.Dial(as), Namespace: "ns", Logger: slog.New(slog.DiscardHandler),
					})
					require.NoError(t, err)
					t.Cleanup(func() { c.Close() })
					*client = c
				}
				for path, mode := range map[string]Mode{"/old": Ephemeral, "/also": Ephemeral, "/persistent": Persistent} {
					_, err := x.c.Create(t.Context(), path, nil, mode)
					require.NoError(t, err)
				}
				happens(x)
				time.Sleep(time.Second)
				want, nodes := 0, 0
				for _, path := range x.s.Children("/ns") {
					if info, _ := x.s.Node("/ns/" + path); info.EphemeralOwner == x.c.Session().ID() {
						want += ephemeralCost(info.Path)
						nodes++
					}
				}
				quota := &x.c.Session().quota
				quota.mu.Lock()
				defer quota.mu.Unlock()
				assert.Equal(t, want, quota.used)
				assert.Len(t, quota.paths, nodes)
				assert.Equal(t, map[uint64]int32{hashOf("/ns"): int32(nodes)}, quota.below)
			})
		})
	}
}
