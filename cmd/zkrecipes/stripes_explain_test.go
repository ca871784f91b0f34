//go:build unix

package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A command does not see the stripe of a zkrecipes above the one that runs it.
func TestEnvironmentWithStripes(t *testing.T) {
	number := 2
	outer := environ{"A=1"}.forCommand([]string{"/l"}, []lease.Token{7}, 1).withStripe(&number)
	require.Equal(t, "2", outer.get(envLockStripe))
	inner := outer.forCommand([]string{"/m"}, []lease.Token{8}, 2)
	require.NotContains(t, inner.withStripe(nil), envLockStripe+"=2")
	number = 0
	require.Equal(t, "0", inner.withStripe(&number).get(envLockStripe))
}

// What a job with stripes adds.
func TestPromisedFieldsOfStripes(t *testing.T) {
	number := 0
	for want, stripe := range map[string]*int{"null": nil, "0": &number} {
		text, err := quote.JSON(event{Event: "connected", Lock: "/l", Stripe: stripe, striped: true}, "")
		require.NoError(t, err)
		require.Equal(t, `{"time":"0001-01-01T00:00:00.000Z","event":"connected","lock":"/l","stripe":`+want+`,"session":""}`, string(text))
	}
}

// What a listing adds to an acquire of any stripe that timed out.
func TestExplanationOfATimeoutOfStripes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		client := w.Client("a")
		_, f := virtual(t, w, "a", "--stripes", "2")
		c, err := f.newRecipe(client)
		require.NoError(t, err)
		at := func(stripe int, who string) lease.Contender {
			return lease.Contender{Path: fmt.Sprintf("%s/stripe-%04d/%s", testLock, stripe, who), Node: who, Session: 1, Holder: lease.Holder{Who: who}}
		}
		ours := at(0, "ourselves")
		ours.Session = client.Session().ID()
		for _, test := range []struct {
			name  string
			ahead int
			queue []lease.Contender
			err   error
			says  string
		}{
			{"all are held", 1, []lease.Contender{at(0, "a"), at(1, "b"), at(1, "c"), ours}, nil, "3 ahead, held by a"},
			{"no time to list them", -1, []lease.Contender{at(0, "a"), at(1, "b")}, nil, "2 ahead, held by a"},
			{"one is free now", 1, []lease.Contender{at(1, "b"), ours}, nil, "1 ahead, held by known (by now a stripe is free)"},
			{"all are free now", 1, []lease.Contender{ours}, nil, "1 ahead, held by known (it was released just now)"},
			{"no answer", 1, nil, errFake, "1 ahead, held by known"},
		} {
			c.contenders = func(context.Context) ([]lease.Contender, error) { return test.queue, test.err }
			j := &job{jobFlags: &f.jobFlags, client: client, recipe: c}
			timeout := &lease.TimeoutError{Path: testLock, Ahead: test.ahead, Node: "known", Holder: lease.Holder{Who: "known"}}
			err := j.explain(t.Context(), waitLimit{}, timeout)
			requireHeld(t, err)
			require.EqualError(t, err, testLock+": not acquired in time, "+test.says, test.name)
		}
		require.NoError(t, client.Close())
	})
}
