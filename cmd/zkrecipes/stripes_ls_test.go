//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// stripeOf is the stripe of a key of testLock, for another program.
func stripeOf(t *testing.T, server *zktest.Server, n int, key string) lease.Acquirer {
	t.Helper()
	locks, err := striped.New(connectClient(t, server), testLock, n, striped.WithHolder("holder of "+key))
	require.NoError(t, err)
	return locks.For(key)
}

// takeStripe makes another program hold the stripe of a key.
func takeStripe(t *testing.T, server *zktest.Server, n int, key string) *lease.Lease {
	t.Helper()
	held, err := stripeOf(t, server, n, key).Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	return held
}

// Of 4 stripes "h" has stripe 3, "d" stripe 1.
func TestListingOfStripes(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	h, d := takeStripe(t, server, 4, "h"), takeStripe(t, server, 4, "d")
	next, waiting := stripeOf(t, server, 4, "d"), make(chan *lease.Lease)
	go func() {
		held, _ := next.Acquire(t.Context(), time.Minute)
		waiting <- held
	}()
	until(t, "it waits", func() bool { return len(server.Children(testLock+"/stripe-0001")) == 2 })

	code, stdout, stderr := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 5)
	require.Regexp(t, `^STRIPE +POS +STATE +KIND +WHO `, lines[0])
	require.Regexp(t, fmt.Sprintf(`^1 +1 +held +mutex +holder.x20of.x20d .* %d$`, d.Token()), lines[1])
	require.Regexp(t, `^1 +2 +waiting +mutex `, lines[2])
	require.Regexp(t, fmt.Sprintf(`^3 +1 +held +mutex +holder.x20of.x20h .* %d$`, h.Token()), lines[3])
	require.Equal(t, "2 of 4 stripes are free", lines[4])

	l := listed(t, server, testLock)
	require.Equal(t, &stripes{Size: 4, Free: 2}, l.Stripes)
	require.Empty(t, l.Others)
	require.Nil(t, l.Semaphore)
	require.Equal(t, []string{"1 mutex held", "2 mutex waiting", "1 mutex held"}, states(l))
	require.Equal(t, []int{1, 1, 3}, []int{*l.Queue[0].Stripe, *l.Queue[1].Stripe, *l.Queue[2].Stripe})

	one := listed(t, server, testLock+"/stripe-0001")
	require.Equal(t, []string{"1 mutex held", "2 mutex waiting"}, states(one))
	require.Nil(t, one.Queue[0].Stripe, "there it is a mutex")

	require.NoError(t, h.Release())
	require.NoError(t, d.Release())
	require.NoError(t, (<-waiting).Release())
	code, stdout, _ = invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code)
	require.Equal(t, testLock+" is free: no client holds it or waits for it\n4 of 4 stripes are free\n", stdout)
	code, stdout, _ = invoke(t, env, "ls", testLock, "--json")
	require.Equal(t, 0, code)
	require.JSONEq(t, `{"lock": "`+testLock+`", "exists": true, "queue": [], "left_out": 0, "semaphore": null, "stripes": {"stripes": 4, "free": 4}, "job": null, "lock_delays": [], "others": []}`, stdout)
}

// The number is not stored where no stripe was ever granted, and other queues have no
// stripe.
func TestListingOfStripesBesideALock(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	for _, node := range []string{"/stripe-0003/lock-0000000001", "/lock-0000000000"} {
		require.NoError(t, client.CreateParents(t.Context(), testLock+node))
		_, err := client.Create(t.Context(), testLock+node, nil, framework.Ephemeral)
		require.NoError(t, err)
	}
	code, stdout, _ := invoke(t, nil, "ls", testLock, "--servers", server.Addr())
	require.Equal(t, 0, code)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 4)
	require.Regexp(t, `^- +1 +held +mutex `, lines[1])
	require.Regexp(t, `^3 +1 +held +mutex `, lines[2])
	require.Equal(t, "how many stripes there are is not stored at "+testLock, lines[3])
	require.Nil(t, listed(t, server, testLock).Queue[0].Stripe)
}

func TestRevokeOfStripes(t *testing.T) {
	server := zktest.NewServer(t)
	h, d := takeStripe(t, server, 4, "h"), takeStripe(t, server, 4, "d")
	code, stdout := revoke(t, server, testLock+"/stripe-0003")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "(mutex, held): holder of h ")
	<-h.RevocationRequested()
	code, stdout = revoke(t, server, testLock, "--node", d.Token().String())
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "(mutex, held, stripe 1): holder of d ")
	<-d.RevocationRequested()

	code, stdout = revoke(t, server, testLock, "--json")
	require.Equal(t, 0, code)
	var requested revocation
	require.NoError(t, json.Unmarshal([]byte(stdout), &requested))
	require.Len(t, requested.Requested, 2)
	require.Equal(t, 1, *requested.Requested[0].Stripe)
	require.Equal(t, 3, *requested.Requested[1].Stripe)
	require.NoError(t, h.Release())
	require.NoError(t, d.Release())
	code, _ = revoke(t, server, testLock)
	require.Equal(t, exitNoContender, code)
}
