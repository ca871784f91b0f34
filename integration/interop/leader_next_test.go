package interop

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
)

const electionPath = "/interop/election"

// newCandidate returns the election of a client of its own.
func newCandidate(t *testing.T, addr, id string) *leader.Election {
	t.Helper()
	e, err := leader.New(connect(t, addr), electionPath, leader.WithID(id))
	require.NoError(t, err)
	return e
}

// javaCampaigns starts a LeaderLatch of the id "java1" as the nth candidate.
func javaCampaigns(t *testing.T, addr string, observer *framework.Client, n int) *program {
	t.Helper()
	p := startCurator(t, "holdlatch", addr, electionPath, "id=1")
	awaitChildren(t, observer, electionPath, n)
	return p
}

// javaResigns closes a LeaderLatch.
func javaResigns(t *testing.T, p *program) {
	t.Helper()
	require.NoError(t, p.input.Close())
	rest := p.requireRest(t)
	require.Equal(t, "closed", rest[len(rest)-1])
}

// requireLeadsSoon waits until a LeaderLatch leads, for less than a session lasts.
func requireLeadsSoon(t *testing.T, p *program) {
	t.Helper()
	late := time.AfterFunc(sessionTimeout*4/5, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	require.Equal(t, "leads", p.line(t))
}

// participants are the candidates as a LeaderLatch shows them.
func participants(t *testing.T, addr string) []string {
	t.Helper()
	return startCurator(t, "participants", addr, electionPath).requireRest(t)
}

// nodes returns all that is stored below the election.
func nodes(t *testing.T, c *framework.Client) map[string]framework.Stat {
	t.Helper()
	names, _, err := c.Children(within(t, limit), electionPath)
	require.NoError(t, err)
	all := map[string]framework.Stat{}
	for _, name := range names {
		data, stat, err := c.Get(within(t, limit), electionPath+"/"+name)
		require.NoError(t, err)
		all[name+" "+string(data)] = stat
	}
	return all
}

// A LeaderLatch between the leader and the named candidate is not passed: nobody moves,
// and nothing is written, not even for those ahead of it.
func TestNextDoesNotPassALatchInJava(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		term, err := newCandidate(t, addr, "a").Acquire(context.Background(), 0)
		require.NoError(t, err)
		b := acquireLater(t, newCandidate(t, addr, "b"))
		awaitChildren(t, observer, electionPath, 2)
		java := javaCampaigns(t, addr, observer, 3)
		c := acquireLater(t, newCandidate(t, addr, "c"))
		awaitChildren(t, observer, electionPath, 4)
		before := nodes(t, observer)

		_, err = newCandidate(t, addr, "d").MakeNext(within(t, limit), "c")
		require.ErrorIs(t, err, leader.ErrNotPassed)
		require.ErrorContains(t, err, "java1")
		require.Equal(t, before, nodes(t, observer))
		require.Equal(t, []string{"a*", "b", "java1", "c"}, participants(t, addr))

		require.NoError(t, term.Release())
		require.NoError(t, (<-b).Release())
		requireLeadsSoon(t, java)
		javaResigns(t, java)
		require.NoError(t, (<-c).Release())
		requireNothingLeft(t, addr, electionPath)
	})
}

// A LeaderLatch leads: a candidate in Go is made the next one, and leads after it.
func TestNextBehindALatchInJava(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		require.NoError(t, observer.CreateParents(within(t, limit), electionPath+"/x"))
		java := javaCampaigns(t, addr, observer, 1)
		requireLeadsSoon(t, java)
		b := acquireLater(t, newCandidate(t, addr, "b"))
		awaitChildren(t, observer, electionPath, 2)
		c := acquireLater(t, newCandidate(t, addr, "c"))
		awaitChildren(t, observer, electionPath, 3)

		present, err := newCandidate(t, addr, "d").MakeNext(within(t, limit), "c")
		require.NoError(t, err)
		require.Equal(t, "java1", present.Holder.Who)
		awaitChildren(t, observer, electionPath, 3)
		require.Equal(t, []string{"java1*", "c", "b"}, participants(t, addr))

		javaResigns(t, java)
		next := <-c
		require.NotNil(t, next)
		require.Greater(t, next.Token(), present.Token)
		require.NoError(t, next.Release())
		require.NoError(t, (<-b).Release())
		requireNothingLeft(t, addr, electionPath)
	})
}

// A LeaderLatch behind the named candidate leads after that, if it is made the next one
// then: nobody has to step back.
func TestLatchInJavaBehindTheNamedOne(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		operator := newCandidate(t, addr, "operator")
		term, err := newCandidate(t, addr, "a").Acquire(context.Background(), 0)
		require.NoError(t, err)
		b := acquireLater(t, newCandidate(t, addr, "b"))
		awaitChildren(t, observer, electionPath, 2)
		c := acquireLater(t, newCandidate(t, addr, "c"))
		awaitChildren(t, observer, electionPath, 3)
		java := javaCampaigns(t, addr, observer, 4)
		require.Len(t, participants(t, addr), 4)

		_, err = operator.MakeNext(within(t, limit), "c")
		require.NoError(t, err)
		awaitChildren(t, observer, electionPath, 4)
		require.Equal(t, []string{"a*", "c", "java1", "b"}, participants(t, addr))
		require.NoError(t, term.Release())
		next := <-c
		require.NotNil(t, next)
		present, err := operator.MakeNext(within(t, limit), "java1")
		require.NoError(t, err)
		require.Equal(t, next.Path(), present.Path)
		require.NoError(t, next.Release())
		requireLeadsSoon(t, java)
		javaResigns(t, java)
		require.NoError(t, (<-b).Release())
		requireNothingLeft(t, addr, electionPath)
	})
}

// A candidate that was asked to step back, and has not done so yet, has the mark in the
// id that Java shows; Go cuts it off.
func TestJavaShowsTheMarkOfACandidateThatDoesNotStepBack(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		a := newCandidate(t, addr, "a")
		term, err := a.Acquire(context.Background(), 0)
		require.NoError(t, err)
		stuck, err := observer.Create(within(t, limit), electionPath+"/_c_01234567-89ab-8def-8123-456789abcdef-latch-", []byte("b"), framework.EphemeralSequential)
		require.NoError(t, err)
		c := acquireLater(t, newCandidate(t, addr, "c"))
		awaitChildren(t, observer, electionPath, 3)

		_, err = a.MakeNext(within(t, time.Second), "c")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, []string{"a*", `b\n__STEP_BACK__`, "c"}, participants(t, addr))
		all, err := a.Contenders(within(t, limit))
		require.NoError(t, err)
		require.Equal(t, "b", all[1].Holder.Who)

		require.NoError(t, observer.Delete(within(t, limit), stuck.Path, framework.AnyVersion))
		require.NoError(t, term.Release())
		require.NoError(t, (<-c).Release())
	})
}
