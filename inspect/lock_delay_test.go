package inspect_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// delay is the lock-delay of these tests.
const delay = 15 * time.Second

// records is where that of the path is stored.
const records = path + "/lock-delay"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// delayed returns a mutex with the lock-delay for a client of that name.
func delayed(w *conformance.World, name string) *mutex.Mutex {
	return must(mutex.New(w.Named(name), path, mutex.WithLockDelay(delay), mutex.WithHolder(name)))
}

// The lock-delay of a queue, from the first holder to the one after an unclean end.
func TestSurveyOfALockDelay(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held, c := w.Acquire(delayed(w, "a")), w.Client("c")
		granted, node := time.Now(), w.Server.Children(records)[0]
		s := survey(t, c)
		require.Equal(t, []string{"lock 1 mutex held"}, states(s))
		require.Equal(t, []inspect.LockDelay{{Delay: delay}}, s.LockDelays)
		require.Empty(t, s.Others)

		w.After(time.Second)
		w.Expire(w.Named("a"))
		s = survey(t, c)
		require.Empty(t, states(s), "the record of a holder is no contender")
		require.Empty(t, s.Others)
		require.Len(t, s.LockDelays, 1)
		require.Len(t, s.LockDelays[0].Ended, 1)
		ended := s.LockDelays[0].Ended[0]
		require.Equal(t, "a", ended.Holder.Who)
		require.Equal(t, lease.KindMutex, ended.Kind)
		require.Equal(t, node, ended.Node)
		require.Equal(t, path+"/"+node, held.Path())
		require.WithinDuration(t, granted, ended.Granted, time.Second/2)
		require.Zero(t, ended.Seen)

		w.After(time.Minute)
		next, seen := w.Start(delayed(w, "b"), lease.Forever), time.Now()
		w.After(delay - time.Second)
		s = survey(t, c)
		require.Equal(t, []string{"lock 1 mutex held"}, states(s), "it is admitted by the queue")
		require.WithinDuration(t, seen, s.LockDelays[0].Ended[0].Seen, time.Second/2)

		w.After(2 * time.Second)
		require.NoError(t, next.Granted().Release())
		require.Equal(t, []inspect.LockDelay{{Delay: delay}}, survey(t, c).LockDelays)
		require.NoError(t, c.Delete(t.Context(), records, framework.AnyVersion), "as the server does some time later")
		require.Equal(t, &inspect.Survey{Exists: true, Others: []string{}}, survey(t, c))
	})
}

// A path is recognised by what its last holder has left.
func TestSurveyAfterTheUncleanEndOfEachRecipe(t *testing.T) {
	type kind struct {
		of     func(c *framework.Client) lease.Acquirer
		kind   string
		recipe inspect.Recipe
		stripe int
		run    string
		want   inspect.Survey // without the lock-delays
	}
	for name, tc := range map[string]kind{
		"mutex": {of: func(c *framework.Client) lease.Acquirer {
			return must(mutex.New(c, path, mutex.WithLockDelay(delay), mutex.WithHolder("me")))
		}, kind: lease.KindMutex},
		"writer": {of: func(c *framework.Client) lease.Acquirer {
			return must(rwlock.New(c, path, rwlock.WithLockDelay(delay), rwlock.WithHolder("me"))).Write()
		}, kind: lease.KindWriter},
		"reader": {of: func(c *framework.Client) lease.Acquirer {
			return must(rwlock.New(c, path, rwlock.WithLockDelay(delay), rwlock.WithHolder("me"))).Read()
		}, kind: lease.KindReader},
		"leader": {of: func(c *framework.Client) lease.Acquirer {
			return must(leader.New(c, path, leader.WithLockDelay(delay), leader.WithID("me")))
		}, kind: lease.KindLeader},
		"semaphore": {of: func(c *framework.Client) lease.Acquirer {
			return must(semaphore.New(c, path, 2, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay), semaphore.WithHolder("me")))
		}, kind: lease.KindSemaphore, want: inspect.Survey{Permits: &inspect.Permits{SizeKnown: true, Size: 2, Free: 2}}},
		"stripe": {of: func(c *framework.Client) lease.Acquirer {
			l := must(striped.New(c, path, 20, striped.WithLockDelay(delay), striped.WithHolder("me")))
			return l.For(keyOf(l, 3))
		}, kind: lease.KindMutex, recipe: inspect.Stripe, stripe: 3, want: inspect.Survey{Stripes: &inspect.Stripes{Size: 20, Free: 20}}},
		"run": {of: func(c *framework.Client) lease.Acquirer {
			return must(once.New(c, path, once.WithLockDelay(delay), once.WithHolder("me"))).Key("a b")
		}, kind: lease.KindMutex, recipe: inspect.Run, run: "a b", want: inspect.Survey{Job: &inspect.Job{}}},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				w.Acquire(tc.of(w.Client("a")))
				c := w.Client("b")
				s := survey(t, c)
				require.Len(t, s.Queues, 1)
				require.Len(t, s.LockDelays, 1)
				require.Empty(t, s.LockDelays[0].Ended, "it lasts")
				w.Expire(w.Named("a"))

				s = survey(t, c)
				require.Len(t, s.LockDelays, 1)
				d := s.LockDelays[0]
				require.Equal(t, []any{tc.recipe, tc.stripe, tc.run, delay}, []any{d.Recipe, d.Stripe, d.Run, d.Delay})
				require.Len(t, d.Ended, 1)
				require.Equal(t, tc.kind, d.Ended[0].Kind)
				require.Equal(t, "me", d.Ended[0].Holder.Who)
				s.LockDelays = nil
				tc.want.Exists, tc.want.Others = true, []string{}
				require.Equal(t, &tc.want, s)
			})
		})
	}
}

// In the order of the queue, and those that others have made by hand. The holder that
// lasts is none of them.
func TestSurveyOfSeveralUncleanEnds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		readers := func(name string) lease.Acquirer {
			return must(rwlock.New(w.Named(name), path, rwlock.WithLockDelay(delay), rwlock.WithHolder(name))).Read()
		}
		for _, name := range []string{"a", "b", "c"} {
			w.Acquire(readers(name))
		}
		held, c := w.Acquire(readers("d")), w.Client("e")
		persist(t, c, records+"/x y\u202e", []byte("not a holder"))
		for _, name := range []string{"c", "a", "b"} {
			w.Expire(w.Named(name))
		}
		s := survey(t, c)
		require.Equal(t, []string{"lock 1 reader held"}, states(s))
		var who []string
		for _, e := range s.LockDelays[0].Ended {
			who = append(who, e.Holder.Who+" "+e.Kind)
		}
		require.Equal(t, []string{" ", "a reader", "b reader", "c reader"}, who)
		require.Equal(t, "x y\u202e", s.LockDelays[0].Ended[0].Node)
		require.NoError(t, held.Release())
	})
}

// What comes and goes while a survey is under way. A holder that is released has not
// ended uncleanly, whatever a listing showed of it.
func TestSurveyOfALockDelayThatChanges(t *testing.T) {
	var held atomic.Pointer[lease.Lease] // the functions run in goroutines of their own
	take := func(w *conformance.World) {
		held.Store(must(delayed(w, "a").Acquire(w.T.Context(), time.Second)))
	}
	release := func(*conformance.World) { _ = held.Load().Release() }
	for name, tc := range map[string]struct {
		// first happens when the queue has been listed, and then, if it is not nil,
		// during the first such request.
		first, then func(w *conformance.World)
		op          zktest.Op
		at          string
		want        []inspect.LockDelay
	}{
		"a holder comes": {first: take, want: []inspect.LockDelay{{Delay: delay}}},
		"a holder comes, and goes before its record is listed": {
			first: take, then: release, op: zktest.OpGetChildren2, at: records, want: []inspect.LockDelay{{Delay: delay}},
		},
		"a holder comes, and goes before its node is looked for": {
			first: take, then: release, op: zktest.OpExists, at: path, want: []inspect.LockDelay{{Delay: delay}},
		},
		"the record of an unclean end is removed before it is read": {
			first: func(w *conformance.World) { take(w); w.Expire(w.Named("a")) },
			then: func(w *conformance.World) {
				w.Remove(w.Named("other"), records+"/"+w.Server.Children(records)[0])
			},
			op: zktest.OpGetData, at: records + "/", want: []inspect.LockDelay{{Delay: delay}},
		},
		"the lock-delay goes before it is read": {first: func(w *conformance.World) { w.Remove(w.Named("other"), records) }},
		"all goes before the records are listed": {
			first: take,
			then:  func(w *conformance.World) { _ = w.Named("other").DeleteTree(w.T.Context(), path) },
			op:    zktest.OpGetChildren2, at: records, want: []inspect.LockDelay{{Delay: delay}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				w.Client("a")
				c, other := w.Client("c"), w.Client("other")
				persist(t, other, records, []byte("15s"))
				w.Server.On(zktest.OpGetData, records).Client("c").Before().Delay(time.Second)
				time.AfterFunc(time.Second/2, func() { tc.first(w) })
				if tc.then != nil {
					w.Server.On(tc.op, tc.at).Client("c").Before().Delay(time.Second)
					time.AfterFunc(time.Second*3/2, func() { tc.then(w) })
				}
				s := survey(t, c)
				require.Equal(t, tc.want, s.LockDelays)
				require.Equal(t, tc.want == nil, len(s.Others) > 0, "a name alone is not known")
				require.Empty(t, s.Queues)
			})
		})
	}
}

// Other programs may give a node that name.
func TestSurveyOfANodeThatIsNamedLikeALockDelay(t *testing.T) {
	for _, data := range []string{"", "settings", "-1s", "0s"} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			c := w.Client("a")
			persist(t, c, records, []byte(data))
			persist(t, c, records+"/lock-0000000000", nil)
			create(t, c, "lock-0000000001")
			s := survey(t, c)
			require.Empty(t, s.LockDelays)
			require.Equal(t, []string{"lock 1 mutex held"}, states(s))
			require.Equal(t, []string{"lock-delay"}, s.Others)
		})
	}
}

// Its children are named like contenders.
func TestNoSurveyOfTheRecordsOfHolders(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held, c := w.Acquire(delayed(w, "a")), w.Client("c")
		s, err := inspect.Path(t.Context(), c, records)
		require.ErrorIs(t, err, framework.ErrInvalidPath)
		require.ErrorContains(t, err, "give the path of that lock")
		require.Nil(t, s)
		require.NoError(t, held.Release())
	})
}
