package framework_test

import (
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A releaser releases nodes of /queue, in the session that it is pinned to.
type releaser struct {
	place
	kit.Kit
	session *framework.Session

	mu   sync.Mutex
	told []string // what the listener was told
}

// A listener is told of deletions. It waits unless it has no use for over.
type listener struct {
	deleted func(name string)
	over    func(name string, broken <-chan struct{})
}

// Deleted, Waits and Over are for kit.DeletionListener.
func (l listener) Deleted(name string) {
	if l.deleted != nil {
		l.deleted(name)
	}
}

func (l listener) Waits(string) bool { return l.over != nil }

func (l listener) Over(name string, broken <-chan struct{}) {
	if l.over != nil {
		l.over(name, broken)
	}
}

// releasing runs a test with the given ephemeral nodes in /queue.
func releasing(t *testing.T, nodes string, test func(t *testing.T, r *releaser), settings ...setting) {
	t.Helper()
	protect(t, func(t *testing.T, p place) {
		r := &releaser{place: p, Kit: kit.Of(p.In(p.Session())), session: p.Session()}
		for name := range strings.FieldsSeq(nodes) {
			_, err := p.Create(t.Context(), "/queue/"+name, nil, framework.Ephemeral)
			require.NoError(t, err)
		}
		broken := r.session.Suspended()
		stop := r.OnDeleted(r.session, "/queue", listener{deleted: func(name string) { r.tell("deleted " + name) }, over: func(name string, of <-chan struct{}) {
			switch of {
			case broken:
				r.tell("over " + name)
			case nil:
				r.tell("refused " + name)
			default:
				r.tell("over later " + name)
			}
		}})
		defer stop()
		p.server.ResetCounts()
		test(t, r)
	}, settings...)
}

func (r *releaser) tell(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, what)
}

// heard waits until all is quiet, and returns what was told since the last call.
func (r *releaser) heard() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.told = nil }()
	return strings.Join(r.told, ", ")
}

// release begins to release nodes, one after another.
func (r *releaser) release(t *testing.T, nodes string) (calls []<-chan result[struct{}]) {
	t.Helper()
	for name := range strings.FieldsSeq(nodes) {
		calls = append(calls, startErr(func() error { return r.Release(t.Context(), "/queue/"+name) }))
		synctest.Wait()
	}
	return calls
}

// confirmed reports whether nothing is unconfirmed.
func (r *releaser) confirmed(t *testing.T) bool {
	t.Helper()
	call := startErr(func() error { return r.AwaitReleased(within(t, time.Nanosecond), "/queue") })
	err := (<-call).err
	if err != nil {
		assert.ErrorIs(t, err, errStopped)
	}
	return err == nil
}

// applied lists the requests that the server has carried out or refused, in order,
// since the nodes were created: not those that keep the session.
func (r *releaser) applied() string {
	var all []string
	for _, e := range r.server.Trace() {
		switch {
		case e.Phase != zktest.PhaseAfterApply || e.Action != zktest.Pass:
		case e.Op == zktest.OpDelete && e.Code != zktest.OK:
			all = append(all, fmt.Sprintf("delete %s: %v", path.Base(e.Path), e.Code))
		case e.Op == zktest.OpDelete:
			all = append(all, "delete "+path.Base(e.Path))
		case e.Op == zktest.OpSetData, e.Op == zktest.OpMulti, e.Op == zktest.OpGetChildren2:
			all = append(all, e.Op.String())
		}
	}
	return strings.Join(all, ", ")
}

// Listeners are told when the delete has its place, and before its answer. What they
// send is behind it.
func TestReleaseTellsBeforeTheAnswer(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Delay(time.Second)
		stop := r.OnDeleted(r.session, "/queue", listener{over: func(string, <-chan struct{}) {
			assert.True(t, r.SendChildren("/queue", func(names []string, err error) {
				assert.NoError(t, err)
				assert.Empty(t, names)
			}))
		}})
		defer stop()
		calls := r.release(t, "a")
		require.Equal(t, "over a", r.heard())
		require.False(t, r.confirmed(t))
		_, err := r.Set(t.Context(), "/queue", nil, framework.AnyVersion)
		require.NoError(t, err)
		require.NoError(t, (<-calls[0]).err)
		require.Equal(t, "deleted a", r.heard())
		require.True(t, r.confirmed(t))
		require.Equal(t, "delete a, getChildren2, setData", r.applied())
	})
}

// A view that is not pinned releases in the present session.
func TestReleaseOnAViewThatIsNotPinned(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		require.NoError(t, kit.Of(r.Client).Release(t.Context(), "/queue/a"))
		require.Equal(t, "over a, deleted a", r.heard())
		require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), framework.ErrNoNode)
		require.Equal(t, "over a, deleted a", r.heard())
		require.ErrorIs(t, r.Release(t.Context(), "queue"), framework.ErrInvalidPath)
		require.NoError(t, kit.Of(r.Client).AwaitReleased(t.Context(), "/queue"))
	})
}

// One more than 64 that are unconfirmed is a delete of which nothing is told.
func TestReleasesThatAreUnconfirmedAreLimited(t *testing.T) {
	var nodes strings.Builder
	for i := range 66 {
		fmt.Fprintf(&nodes, "n%d ", i)
	}
	releasing(t, nodes.String(), func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Delay(time.Second)
		calls := r.release(t, nodes.String())
		told := r.heard()
		require.Equal(t, 64, strings.Count(told, "over"))
		require.NotContains(t, told, "n64")
		for _, call := range calls {
			require.NoError(t, (<-call).err)
		}
		require.Equal(t, 66, strings.Count(r.heard(), "deleted"))
		require.True(t, r.confirmed(t))
		_, err := r.Create(t.Context(), "/queue/again", nil, framework.Ephemeral)
		require.NoError(t, err)
		require.NoError(t, r.Release(t.Context(), "/queue/again"))
		require.Equal(t, "over again, deleted again", r.heard())
	})
}

// An event confirms a release as well as the answer does.
func TestReleaseIsConfirmedByAnEvent(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		_, _, _, err := r.GetWatch(t.Context(), "/queue/a")
		require.NoError(t, err)
		r.server.On(zktest.OpDelete, "").After().DropReply()
		calls := r.release(t, "a")
		require.Equal(t, "over a, deleted a", r.heard())
		require.True(t, r.confirmed(t))
		require.Empty(t, calls[0], "it waits for its answer")
	})
}

// Release goes on after an overloaded server has refused the delete, or one that no
// longer owns the session, and the release is unconfirmed until then.
func TestReleaseThatIsRepeated(t *testing.T) {
	for _, code := range []zktest.Code{zktest.ThrottledOp, zktest.SessionMoved} {
		t.Run(code.String(), func(t *testing.T) {
			releasing(t, "a", func(t *testing.T, r *releaser) {
				r.server.On(zktest.OpDelete, "").Fail(code)
				calls := r.release(t, "a")
				require.Equal(t, "over a", r.heard())
				require.False(t, r.confirmed(t))
				require.NoError(t, (<-calls[0]).err)
				require.Equal(t, "over a, deleted a", r.heard())
				require.True(t, r.confirmed(t))
			})
		})
	}
}

// A delete that the server refuses for good is told last.
func TestReleaseThatIsRefused(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Always().Fail(zktest.NoAuth)
		stop := r.OnDeleted(r.session, "/queue", listener{over: func(_ string, broken <-chan struct{}) {
			if broken != nil {
				assert.Equal(t, "over a", r.heard(), "the refusal, which has come by now, waits for this")
			}
		}})
		defer stop()
		require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), framework.ErrNoAuth)
		require.Equal(t, "refused a", r.heard())
		require.ErrorIs(t, r.AwaitReleased(t.Context(), "/queue"), framework.ErrNoAuth)
		stop()

		r.server.On(zktest.OpDelete, "").After().Delay(time.Second)
		require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), framework.ErrNoAuth)
		require.Equal(t, "over a, refused a", r.heard())
		require.ErrorIs(t, r.DeleteGuaranteed(t.Context(), "/queue/a"), framework.ErrNoAuth)
		require.Empty(t, r.heard(), "it is no release")
	})
}

// AwaitReleased waits for the releases that were unconfirmed at the call, of children
// of one node.
func TestAwaitReleased(t *testing.T) {
	releasing(t, "a b", func(t *testing.T, r *releaser) {
		first := r.server.On(zktest.OpDelete, r.FullPath("/queue/a"))
		first.Delay(time.Second)
		second := r.server.On(zktest.OpDelete, r.FullPath("/queue/b"))
		second.Delay(time.Second)
		began := time.Now()
		_ = r.release(t, "a")
		awaited := startErr(func() error { return r.AwaitReleased(t.Context(), "/queue") })
		synctest.Wait()
		_ = r.release(t, "b")
		require.NoError(t, r.AwaitReleased(t.Context(), "/other"))
		require.NoError(t, r.AwaitReleased(t.Context(), "/queue/a"))
		require.Zero(t, time.Since(began))
		require.ErrorIs(t, r.AwaitReleased(within(t, time.Second/2), "/queue"), errStopped)
		result := <-awaited
		require.NoError(t, result.err)
		require.Equal(t, time.Second, result.took, "not for the second one")
		require.NoError(t, r.AwaitReleased(t.Context(), "/queue"))
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

// The end of the session ends the wait: nothing is known of the deletes.
func TestReleasesEndWithTheSession(t *testing.T) {
	for name, tc := range map[string]struct {
		end func(t *testing.T, r *releaser)
		err error
	}{
		"expired": {func(_ *testing.T, r *releaser) { r.server.ExpireSession(r.session.ID()) }, framework.ErrSessionLost},
		"closed": {func(t *testing.T, r *releaser) {
			t.Helper()
			assert.Less(t, closes(t, r.Client), 100*time.Millisecond)
		}, framework.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			releasing(t, "a b", func(t *testing.T, r *releaser) {
				r.server.On(zktest.OpDelete, "").Always().DropReply()
				calls := r.release(t, "a b")
				calls = append(calls, startErr(func() error { return r.AwaitReleased(t.Context(), "/queue") }))
				synctest.Wait()
				tc.end(t, r)
				for _, call := range calls[:2] {
					require.Error(t, (<-call).err)
				}
				require.ErrorIs(t, (<-calls[2]).err, tc.err)
				require.ErrorIs(t, r.AwaitReleased(t.Context(), "/queue"), tc.err)
				require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), tc.err)
				require.Equal(t, "over a, over b", r.heard())
			})
		})
	}
}
