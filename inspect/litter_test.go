package inspect_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const withID = "_c_01234567-89ab-4def-8123-456789abcdef-"

// litterBelow finds what is left behind, and writes it as texts.
func litterBelow(t *testing.T, c *framework.Client, path string) (all []string) {
	t.Helper()
	found, err := inspect.FindLitter(t.Context(), c, path)
	require.NoError(t, err)
	for _, l := range found.Litter {
		text := fmt.Sprintf("%s %s", l.Kind, l.Path)
		if !l.Certain {
			text += " ?"
		}
		if l.Used > 0 {
			text += fmt.Sprintf(" %d of %d", l.Used, l.Max)
		}
		all = append(all, text)
	}
	return all
}

// plain makes nodes that stay, all of which are plain ones.
func plain(t *testing.T, c *framework.Client, paths ...string) {
	t.Helper()
	for _, path := range paths {
		_, err := c.Create(t.Context(), path, nil, framework.Persistent)
		require.NoError(t, err)
	}
}

// Containers go by themselves. What is not one stays, and is found when something newer
// is old enough.
func TestEmptyParents(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		plain(t, c, "/locks", "/locks/plain", "/locks/data", "/locks/size", "/locks/stripes", "/locks/text")
		for path, data := range map[string]string{"data": "x", "size": "\x00\x00\x00\x02", "stripes": "4 stripes", "text": "0010"} {
			_, err := c.Set(t.Context(), "/locks/"+path, []byte(data), framework.AnyVersion)
			require.NoError(t, err)
		}
		for _, path := range []string{"plain", "data", "size", "stripes", "text", "made"} {
			l := w.Acquire(mutexAt(t, c, "/locks/"+path, "c"))
			require.NoError(t, l.Release())
		}
		empty := []string{"empty /locks/plain ?", "empty /locks/size ?", "empty /locks/stripes ?"}
		require.Equal(t, append([]string{"empty /locks/made ?"}, empty...), litterBelow(t, c, "/locks"))
		w.After(5 * time.Minute)
		require.Equal(t, empty, litterBelow(t, c, "/locks"), "nothing tells how long they have been so")

		held := w.Acquire(mutexAt(t, c, "/locks/new", "c"))
		since := time.Now()
		require.Equal(t, empty, litterBelow(t, c, "/locks"), "they may have been used just before")
		w.After(2*time.Minute - time.Second)
		require.Equal(t, empty, litterBelow(t, c, "/locks"))
		w.After(2 * time.Second)
		require.Equal(t, []string{"empty /locks/plain", "empty /locks/size", "empty /locks/stripes"}, litterBelow(t, c, "/locks"))
		found := must(inspect.FindLitter(t.Context(), c, "/locks"))
		require.WithinDuration(t, since, found.Litter[0].Since, time.Second/2)
		require.Equal(t, 7, found.Nodes)
		require.Empty(t, litterBelow(t, c, "/locks/plain"), "it may be a folder")
		require.NoError(t, held.Release())
	})
}

// A container that is made and never used stays, before ZooKeeper 3.10.
func TestNodesThatWereNeverUsed(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		require.NoError(t, c.CreateParents(t.Context(), "/locks/x/y"))
		persist(t, c, "/locks/setting", []byte("x"))
		foreign(t, c, "/locks/x-member-")
		require.Equal(t, []string{"never-used /locks/x ?"}, litterBelow(t, c, "/"))
		w.After(10*time.Minute - time.Second)
		require.Equal(t, []string{"never-used /locks/x ?"}, litterBelow(t, c, "/"))
		w.After(time.Second)
		require.Equal(t, []string{"never-used /locks/x"}, litterBelow(t, c, "/"))
		// The first run of a job may last long: until it ends there is no record.
		foreign(t, c, "/jobs/j/2026-11-26.key/lock-")
		require.NoError(t, c.CreateParents(t.Context(), "/jobs/j/done/x"))
		w.After(10 * time.Minute)
		require.Equal(t, []string{"never-used /locks/x"}, litterBelow(t, c, "/"))
	})
}

// A contender that belongs to no session is never removed.
func TestContendersThatAreNotEphemeral(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		for range 15 {
			foreign(t, c, "/locks/m/lock-")
		}
		for _, path := range []string{
			"/locks/m/lock-0000000015", "/locks/m/lock-0000000016", "/locks/e/latch-0000000000", "/locks/s/leases/lease-0000000000",
			"/locks/t/leases/lease-0000000000", "/locks/t/locks/lock-0000000000", "/locks/u/permits-1-0000000000",
			"/locks/v/" + withID + "lock-", "/locks/v/" + withID + "lock-12", "/locks/v/" + withID + "other-", "/locks/v/lock-12",
		} {
			persist(t, c, path, []byte("me"))
		}
		require.Equal(t, []string{
			"not-ephemeral /locks/e/latch-0000000000", "not-ephemeral /locks/m/lock-0000000015",
			"not-ephemeral /locks/s/leases/lease-0000000000", "not-ephemeral /locks/t/leases/lease-0000000000",
			"not-ephemeral /locks/t/locks/lock-0000000000", "not-ephemeral /locks/u/permits-1-0000000000",
			"bad-name /locks/v/" + withID + "lock-", "bad-name /locks/v/" + withID + "lock-12",
		}, litterBelow(t, c, "/"))
	})
}

// A holder has ended, and nobody comes.
func TestRecordsOfHoldersThatHaveEnded(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		held := w.Acquire(delayed(w, "a"))
		require.Empty(t, litterBelow(t, c, "/"))
		granted := time.Now()
		w.Expire(w.Named("a"))
		require.Equal(t, []string{"ended " + path + " 1 of 0"}, litterBelow(t, c, "/"))
		found := must(inspect.FindLitter(t.Context(), c, "/"))
		require.WithinDuration(t, granted, found.Litter[0].Since, time.Second/2)
		next := w.Start(delayed(w, "b"), lease.Forever)
		require.Empty(t, litterBelow(t, c, "/"), "it goes when that one has waited")
		w.After(delay + time.Second)
		require.NoError(t, next.Granted().Release())
		require.Equal(t, []string{"empty " + records + " ?"}, litterBelow(t, c, "/"))
		require.Error(t, held.Err())
	})
}

func TestNumbersThatEnd(t *testing.T) {
	const nearly = math.MaxInt32 / 10 * 9
	for next, want := range map[int32]string{
		1: "", 1 << 30: "", nearly - 1: "", nearly: fmt.Sprintf("numbers /locks/m %d of 2147483647", nearly),
		math.MaxInt32 - 1: "numbers /locks/m 2147483646 of 2147483647", math.MaxInt32: "numbers /locks/m 2147483647 of 2147483647",
	} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			c := w.Client("c")
			require.NoError(t, c.CreateParents(t.Context(), "/locks/m/x"))
			persist(t, c, "/locks/m/y", []byte("x"))
			require.True(t, w.Server.SetSequence("/locks/m", next))
			if found := litterBelow(t, c, "/"); want != "" {
				require.Equal(t, []string{want}, found)
			} else {
				require.Empty(t, found, next)
			}
		})
	}
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		require.NoError(t, c.CreateParents(t.Context(), "/locks/m/x"))
		require.True(t, w.Server.SetSequence("/locks/m", math.MaxInt32))
		foreign(t, c, "/locks/m/lock-")
		foreign(t, c, "/locks/m/lock-")
		require.Equal(t, []string{"numbers /locks/m 2147483647 of 2147483647"}, litterBelow(t, c, "/"))
	}, zktest.WithSequenceWrap())
}

// A part of a recipe that is in use is not left behind; nor is what a job remembers.
func TestPartsOfRecipesAreNoLitter(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		s := permitsAt(t, a, "/locks/s", "a", 1, nil)
		held, at := w.Acquire(s), w.Start(permitsAt(t, b, "/locks/s", "b", 1, nil), lease.Forever)
		at.Cancel(nil)
		<-at.Done()
		stripes := stripesOf(t, a, 8)
		one, two := w.Acquire(stripes.For(keyOf(stripes, 1))), w.Acquire(stripes.For(keyOf(stripes, 2)))
		require.NoError(t, two.Release())
		require.Empty(t, litterBelow(t, c, "/"))
		require.NoError(t, held.Release())
		require.NoError(t, one.Release())
		require.Equal(t, []string{
			"empty " + path + "/stripe-0001 ?", "empty " + path + "/stripe-0002 ?", "empty /locks/s/leases ?", "empty /locks/s/locks ?",
		}, litterBelow(t, c, "/"))
		require.NoError(t, c.DeleteTree(t.Context(), "/locks"))

		job := must(once.New(a, "/locks/j"))
		run := w.Acquire(job.Key("x"))
		require.NoError(t, job.Key("x").Record(t.Context(), run))
		require.NoError(t, run.Release())
		require.NoError(t, c.Delete(t.Context(), "/locks/j/done/x.key", framework.AnyVersion))
		_, err := c.Set(t.Context(), "/locks/j/done", znode.Swept(time.Now()), framework.AnyVersion)
		require.NoError(t, err)
		require.Equal(t, []string{"empty /locks/j/x.key ?"}, litterBelow(t, c, "/"))
	})
}

// Very many records, of a job and of another program.
func TestJobsWithVeryManyRecords(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c", func(cfg *framework.Config) { cfg.MaxReplyBytes = 16 << 20 })
		plainBelow(t, c, "/jobs/a/done", 89_999)
		require.Empty(t, litterBelow(t, c, "/"))
		persist(t, c, "/jobs/a/done/last.key", nil)
		require.Equal(t, []string{"records /jobs/a 90000 of 100000"}, litterBelow(t, c, "/"))
		_, err := c.Set(t.Context(), "/jobs/a/done", []byte("other"), framework.AnyVersion)
		require.NoError(t, err)
		require.Empty(t, litterBelow(t, c, "/"))
	})
}

// plainBelow makes records of runs.
func plainBelow(t *testing.T, c *framework.Client, dir string, n int) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), dir+"/x"))
	for begin := 0; begin < n; begin += 200 {
		var all []framework.Op
		for i := begin; i < min(begin+200, n); i++ {
			all = append(all, framework.CreateOp(fmt.Sprintf("%s/%d.key", dir, i), nil, framework.Persistent))
		}
		_, err := c.Multi(t.Context(), all...)
		require.NoError(t, err)
	}
}

func TestLitterThatCannotBeLookedFor(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		_, err := inspect.FindLitter(t.Context(), c, "/x/")
		require.ErrorIs(t, err, framework.ErrInvalidPath)
		w.Acquire(delayed(w, "a"))
		w.Expire(w.Named("a"))
		plain(t, c, "/locks/plain")
		require.NoError(t, w.Acquire(mutexAt(t, c, "/locks/plain", "c")).Release())
		persist(t, c, "/locks/x/lock-0000000000", nil)
		want := litterBelow(t, c, "/locks")
		require.Len(t, want, 3)
		less := 0
		for op, n := range w.Requests(func() { litterBelow(t, c, "/locks") }) {
			for i := range n {
				rule := w.Server.On(op, "/locks").Client("c").Nth(i + 1).Before()
				rule.Fail(zktest.BadArguments)
				found, err := inspect.FindLitter(t.Context(), c, "/locks")
				require.ErrorContains(t, err, "/locks", "%v %d", op, i+1)
				require.Nil(t, found)
				rule.Remove()
				rule = w.Server.On(op, "/locks").Client("c").Nth(i + 1).Before()
				rule.Fail(zktest.NoAuth)
				found, err = inspect.FindLitter(t.Context(), c, "/locks")
				require.NoError(t, err, "%v %d", op, i+1)
				require.Len(t, found.Unreadable, 1)
				require.LessOrEqual(t, len(found.Litter), len(want))
				less += len(want) - len(found.Litter)
				rule.Remove()
			}
		}
		require.NotZero(t, less, "what may not be read is left out")
	})
}

// What goes, or is used again, while it is looked for is no litter.
func TestLitterThatIsUsedAgain(t *testing.T) {
	for name, use := range map[string]func(t *testing.T, c *framework.Client){
		"it is used": func(t *testing.T, c *framework.Client) { foreign(t, c, "/locks/x/lock-") },
		"it was used": func(t *testing.T, c *framework.Client) {
			plain(t, c, "/locks/x/y")
			_ = c.Delete(t.Context(), "/locks/x/y", 0)
		},
		"it is gone":          func(t *testing.T, c *framework.Client) { _ = c.Delete(t.Context(), "/locks/x", 0) },
		"it stores something": func(t *testing.T, c *framework.Client) { _, _ = c.Set(t.Context(), "/locks/x", []byte("x"), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, c := w.Client("a"), w.Client("c")
				require.NoError(t, w.Acquire(mutexAt(t, a, "/locks/x", "a")).Release())
				require.NotEmpty(t, litterBelow(t, c, "/"))
				w.Server.On(zktest.OpGetData, "/locks/x").Client("c").Before().Delay(time.Second)
				time.AfterFunc(time.Second/2, func() { use(t, a) }) // it is listed by then
				require.Empty(t, litterBelow(t, c, "/"))
			})
		})
	}
}
