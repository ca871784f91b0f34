package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Recipe is what the suite is run on.
type Recipe struct {
	// Name names the recipe in the output.
	Name string
	// New returns the recipe for a path, through a client.
	New func(c *framework.Client, path string) lease.Acquirer
	// Places is how many leases may be valid at once on a path: 1 for a mutex, 0
	// for any number, as with readers.
	Places int
	// Shares tells the leases that may be valid together from those of Block or
	// New that may not: see Referee. It is needed where Places is 0.
	Shares func(*lease.Lease) bool
	// Block returns what keeps the recipe from being acquired, such as the write
	// lock for a read lock. nil means that the recipe itself does, once all Places
	// are taken. It is needed where Places is 0.
	Block func(c *framework.Client, path string) lease.Acquirer
	// Readers returns the recipe's other side, for a sweep of both: what shares, and
	// what holders of New may become by acquiring it under their leases. It may be nil.
	Readers func(c *framework.Client, path string) lease.Acquirer
	// Weight tells how many of the Places a lease takes; nil is 1 for each.
	Weight func(l *lease.Lease) int
	// Nodes is how many nodes a lease has; 0 is 1.
	Nodes int
	// NotReentrant is true if a lease's context does not enter its place again.
	NotReentrant bool
}

// GoString is the recipe's name, so that what has a recipe can be printed as Go.
func (r Recipe) GoString() string { return r.Name }

// Referee returns one for the recipe.
func (r Recipe) Referee() *Referee {
	if r.Shares != nil {
		return &Referee{Shares: r.Shares}
	}
	return &Referee{Places: r.Places, Weight: r.Weight}
}

// path is where the suite has its recipe.
const path = "/conformance/place"

// Run runs the suite, each test in a World of its own.
func Run(t *testing.T, r Recipe) {
	tests := map[string]func(t *testing.T, w *World, r Recipe){
		"no more leases than places":         exclusion,
		"grants in the order of the queue":   fairness,
		"a try in vain":                      tryInVain,
		"a wait that times out":              timesOut,
		"a wait that fails, and times out":   timesOutAfterAFailure,
		"the listing is too large":           listingTooLarge,
		"a wait that is cancelled":           cancelled,
		"the session of a waiter ends":       waiterLosesSession,
		"the session of a holder ends":       holderLosesSession,
		"the network of a holder is cut":     holderIsCutOff,
		"a holder's server loses its quorum": holderLosesQuorum,
		"a holder comes to an old leader":    holderComesToOldLeader,
		"the node of a holder is deleted":    holderLosesNode,
		"the client of a holder is closed":   holderCloses,
		"the client of a waiter is closed":   waiterCloses,
		"the server is gone for a while":     serverGone,
		"a lease is released once":           releasedOnce,
		"the end of the context":             contextEnds,
		"a place is entered again":           reEntry,
		"tokens grow when the path is anew":  tokensGrow,
		"an unknown outcome leaves one node": unknownOutcome,

		"a transaction breaks at a grant after a long wait": vouchingBreaks,
		"a grant after a long wait is called off":           vouchingIsCancelled,
		"a holder hears late that a quorum vouched":         holderHearsLate,
		"nobody vouches for a grant after a long wait":      nobodyVouches,
		"the node goes at a grant after a long wait":        nodeGoesInVouching,
		"the node of a holder is deleted untold":            nodeGoesUntold,
		"a grant after a break in an idle session":          grantAfterABreak,
		"the node of a holder may not be read any more":     nodeMayNotBeRead,

		"a node of a holder changes and is deleted":         nodeChanges,
		"a node of a holder goes before a confirmation":     nodeGoesBeforeConfirm,
		"a node of a holder may not be watched":             nodeMayNotBeWatched,
		"a holder is asked to give way at any of its nodes": nodeIsAskedFor,
		"a waiter is asked to give way":                     waiterIsAskedToGiveWay,
		"a token below a long path":                         tokenBelowALongPath,
		"a try without a connection":                        tryWithoutConnection,
		"the watches of a waiter are lost":                  watchesAreLost,

		"a wait without a server":        waitsWithoutServer,
		"credentials are refused later":  credentialsAreRefusedLater,
		"a wait until a deadline passes": waitsUntilDeadline,

		"all leases end before the session of a client": leasesEndBeforeSession,
		"a closing client waits for releases":           closeAwaitsReleases,
		"a closing client does not wait for ever":       closeDoesNotWaitForEver,
		"the session ends while a client closes":        sessionEndsInClose,
		"the close of a connection blocks":              closeOfAConnectionBlocks,
	}
	if !r.NotReentrant {
		maps.Copy(tests, forks)
	}
	maps.Copy(tests, untolds)
	maps.Copy(tests, strangers)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			InWorld(t, func(t *testing.T, w *World) { test(t, w, r) })
		})
	}
}

// fill takes all places, through clients of its own, and returns what to release.
func fill(w *World, r Recipe) []*lease.Lease {
	w.T.Helper()
	if r.Block != nil {
		return []*lease.Lease{w.Acquire(r.Block(w.Client("blocker"), path))}
	}
	require.Positive(w.T, r.Places, "a recipe without a number of places needs Block and Shares")
	held := make([]*lease.Lease, r.Places)
	for i := range held {
		held[i] = w.Acquire(r.New(w.Client(fmt.Sprintf("holder%d", i)), path))
	}
	return held
}

func release(t *testing.T, held ...*lease.Lease) {
	t.Helper()
	for _, l := range held {
		require.NoError(t, l.Release())
	}
}

// leavesNothing runs f and compares the ephemeral nodes before and after.
func leavesNothing(t *testing.T, w *World, f func()) {
	t.Helper()
	before := w.Ephemerals("/")
	f()
	w.After(SessionTimeout)
	require.Equal(t, before, w.Ephemerals("/"), "nodes left")
}

func exclusion(t *testing.T, w *World, r Recipe) {
	referee := r.Referee()
	var all sync.WaitGroup
	for i := range 4 {
		c := w.Client(fmt.Sprintf("client%d", i))
		for j := range 3 {
			a := r.New(c, path)
			if r.Block != nil && j == 0 {
				a = r.Block(c, path)
			}
			who := fmt.Sprintf("worker %d of client %d", j, i)
			all.Go(func() {
				for n := range 5 {
					l, err := a.Acquire(t.Context(), time.Hour)
					if err != nil {
						t.Errorf("%s: %v", who, err)
						return
					}
					referee.Grant(who, l)
					pass(time.Duration(1+(i*7+j*3+n)%11) * time.Millisecond)
					referee.Look()
					if err := l.Release(); err != nil {
						t.Errorf("%s: %v", who, err)
					}
				}
			})
		}
	}
	all.Wait()
	require.Empty(t, referee.Faults())
	require.Len(t, referee.Tokens(), 60)
}

func fairness(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	clients := []*framework.Client{w.Client("a"), w.Client("b")}
	var queue []*Attempt
	for i := range 8 {
		queue = append(queue, w.Start(r.New(clients[i%2], path), lease.Forever))
		require.True(t, queue[i].Waiting())
	}
	queue[3].Cancel(errors.New("gives up"))
	require.Error(t, queue[3].Failed())
	queue = append(queue[:3], queue[4:]...)
	w.After(time.Second) // a session's first watch has to wait for a moment
	release(t, held...)
	free := max(r.Places, 1)
	var tokens []lease.Token
	for i, at := range queue {
		w.Settle()
		for _, later := range queue[min(i+free, len(queue)):] {
			require.Equal(t, r.Places > 0, later.Waiting(), "one overtook another, or those who share were not let in together")
		}
		tokens = append(tokens, at.Granted().Token())
		release(t, at.Lease)
	}
	require.IsIncreasing(t, tokens)
}

func tryInVain(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	a := r.New(w.Client("a"), path)
	leavesNothing(t, w, func() {
		for _, timeout := range []time.Duration{0, -time.Second} {
			at := w.Start(a, timeout)
			require.False(t, at.Waiting(), "it does not wait")
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		}
	})
	release(t, held...)
	w.Settle()
	release(t, w.Start(a, 0).Granted())
}

func timesOut(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	a := r.New(w.Client("a"), path)
	leavesNothing(t, w, func() {
		at := w.Start(a, 1500*time.Millisecond)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		var timeout *lease.TimeoutError
		require.ErrorAs(t, at.Err, &timeout)
		require.Positive(t, timeout.Ahead)
		require.NoError(t, timeout.Err, "nothing failed")
		require.InDelta(t, 1500*time.Millisecond, at.Took, float64(100*time.Millisecond))
	})
	release(t, held...)
	release(t, w.Acquire(a))
}

func cancelled(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	a := r.New(w.Client("a"), path)
	reason := errors.New("changed its mind")
	leavesNothing(t, w, func() {
		at := w.Start(a, lease.Forever)
		w.After(time.Second)
		at.Cancel(reason)
		w.After(100 * time.Millisecond)
		require.False(t, at.Waiting())
		require.ErrorIs(t, at.Failed(), reason)
	})
	release(t, held...)
	release(t, w.Acquire(a))
}

func waiterLosesSession(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	c := w.Client("a")
	at := w.Start(r.New(c, path), time.Hour)
	for range 3 {
		w.Expire(c)
		w.After(time.Second)
		require.True(t, at.Waiting())
	}
	release(t, held...)
	got := at.Granted()
	info, ok := w.Server.Node(got.Path())
	require.True(t, ok)
	require.Equal(t, c.Session().ID(), info.EphemeralOwner)
	require.EqualValues(t, info.Czxid, got.Token())
	release(t, got)
}

func holderLosesSession(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	held := w.Acquire(a)
	w.Expire(c)
	w.After(time.Second)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	require.ErrorIs(t, context.Cause(held.Context()), framework.ErrSessionLost)
	again := w.Acquire(a)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
	w.After(time.Second)
	require.NoError(t, again.Err(), "the late release did no harm")
	require.Greater(t, again.Token(), held.Token())
	release(t, again)
}

func holderIsCutOff(t *testing.T, w *World, r Recipe) {
	referee := r.Referee()
	var held []*lease.Lease
	for i := range max(r.Places, 1) {
		held = append(held, w.Acquire(r.New(w.Client(fmt.Sprintf("holder%d", i)), path)))
		referee.Grant("a holder", held[i])
	}
	next := r.New
	if r.Places == 0 {
		next = r.Block
	}
	at := w.Start(next(w.Client("b"), path), lease.Forever)
	require.True(t, at.Waiting())
	w.After(SessionTimeout)
	for i := range held {
		w.Server.Partition(fmt.Sprintf("holder%d", i), true)
	}
	got := at.Granted()
	referee.Grant("the next", got)
	for i, l := range held {
		if i > 0 && r.Places > 1 {
			break // the others may live for a moment longer
		}
		require.ErrorIs(t, l.Err(), lease.ErrLost, "it was told before the place was given away")
	}
	require.Empty(t, referee.Faults())
	release(t, got)
}

func holderLosesNode(t *testing.T, w *World, r Recipe) {
	held := w.Acquire(r.New(w.Client("a"), path))
	w.After(time.Second)
	w.Remove(w.Client("operator"), held.Path())
	w.After(100 * time.Millisecond)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	require.ErrorIs(t, context.Cause(held.Context()), lease.ErrDeleted)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
}
