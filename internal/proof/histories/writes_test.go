package histories

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// register is a node that holders write, and then read. Each write has a number, which
// is what it writes.
const register = "/register"

// The kinds of Step.Late: how a holder writes about when it releases.
const (
	lateCheck      = "check"       // with the lease's Check
	lateCheckOp    = "checkop"     // with a check of its node that it makes itself
	lateElsewhere  = "elsewhere"   // the same, through another client
	lateOtherCheck = "other check" // with the lease's Check, through another client
)

// A written is a write, guarded by record.mu.
type written struct {
	by        *tenure
	how       string // a kind of Step.Late, or ""
	refused   bool   // this process knew that the lease was released
	committed int    // numbers the commits from 1; 0 if there is none
}

func (s Scenario) writes() bool {
	return slices.ContainsFunc(s.Threads, func(th Thread) bool {
		return slices.ContainsFunc(th.Steps, func(st Step) bool { return st.Write || st.Late != "" })
	})
}

// use writes, and then reads. Both are behind all that earlier holders have written.
func (th *thread) use(t *tenure) {
	if !th.scenario.writes() {
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), 400*time.Millisecond, errCancelled)
	defer cancel()
	th.write(ctx, th.station, t, "", []framework.Op{t.lease.Check()})
	data, _, err := th.station.client.Get(ctx, register)
	if err == nil && t.lease.Err() == nil { // so it was read in the session of the lease
		th.recordRead(t, string(data))
	}
}

// writeLate writes about when a lease is released. It returns what to wait for.
func (th *thread) writeLate(t *tenure, st Step) *sync.WaitGroup {
	var writing sync.WaitGroup
	if st.Late == "" || !th.scenario.writes() {
		return &writing
	}
	writing.Go(func() {
		<-time.After(max(0, st.LateBy))
		ctx, cancel := context.WithTimeoutCause(context.Background(), 3*time.Second, errCancelled)
		defer cancel()
		through, checks := th.station, []framework.Op{t.lease.Check()}
		if st.Late == lateElsewhere || st.Late == lateOtherCheck {
			through = th.clients[(th.station.number+1)%len(th.clients)]
		}
		if st.Late == lateElsewhere || st.Late == lateCheckOp {
			checks = nil
			for _, s := range t.op.Slots {
				checks = append(checks, framework.CheckOp(s.lease.Path(), framework.AnyVersion))
			}
		}
		th.write(ctx, through, t, st.Late, checks)
	})
	<-time.After(max(0, -st.LateBy))
	return &writing
}

// write writes through a client, with checks that say for which lease.
func (th *thread) write(ctx context.Context, through *station, t *tenure, how string, checks []framework.Op) {
	through.mu.Lock()
	client := through.client
	through.mu.Unlock()
	if client == nil { // it is connecting
		return
	}
	w, number := th.recordWrite(t, how)
	_, err := client.Multi(ctx, append(checks, framework.SetOp(register, []byte(number), framework.AnyVersion))...)
	if w.refused && !errors.Is(err, framework.ErrNoNode) && ctx.Err() == nil && !errors.Is(err, framework.ErrClosed) {
		th.brokenf("I6: lease %d is released, and a Multi with its Check is not refused: %v", t.op.Lease, err)
	}
}

// recordWrite records a write before it is sent, and returns its number.
func (r *record) recordWrite(t *tenure, how string) (w *written, number string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := func(s *slot) bool {
		return !slices.ContainsFunc(r.tenures, func(other *tenure) bool { return other.has(s.lease.Path()) && !other.released })
	}
	checked := how == lateCheck || how == lateOtherCheck
	w = &written{by: t, how: how, refused: checked && slices.ContainsFunc(t.op.Slots, gone)}
	r.written = append(r.written, w)
	return w, strconv.Itoa(len(r.written))
}

// writeOf returns the write that left that in the register, nil if none did.
func (r *record) writeOfLocked(data string) *written {
	n, err := strconv.Atoi(data)
	if err != nil {
		return nil
	}
	return r.written[n-1]
}

// recordCommit checks a write when the server carries it out.
func (r *run) recordCommit(c zktest.Call) {
	if c.Op != zktest.OpMulti || c.Phase != zktest.PhaseAfterApply {
		return
	}
	info, _ := r.server.Node(register)
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.writeOfLocked(string(info.Data))
	if w == nil || w.committed != 0 {
		return
	}
	r.commits++
	w.committed = r.commits
	if w.refused {
		r.brokenLocked("I6: lease %d was released, and a Multi with its Check was carried out after that", w.by.op.Lease)
	}
	for _, later := range r.tenures {
		if r.comesBefore(w.by, later, true) {
			r.brokenLocked("I6: lease %d has written (%s) after lease %d, which came later, was used", w.by.op.Lease, cmp.Or(w.how, "at its grant"), later.op.Lease)
		}
	}
	for _, s := range w.by.op.Slots {
		if c.Session != s.session || !s.ordered {
			continue // another client's requests may be carried out before the deletes of this one
		}
		if own, ahead := r.aheadLocked(s.lease.Path()); r.subject.blocked(r.scenario, ahead, own) {
			r.brokenLocked("I6: lease %d has written (%s) while these were ahead of it: %v", w.by.op.Lease, cmp.Or(w.how, "at its grant"), ahead)
		}
		s.used = true
	}
}

// recordRead checks what the holder of a lease has read.
func (r *run) recordRead(t *tenure, data string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := 0
	if w := r.writeOfLocked(data); w != nil {
		shown = w.committed
	}
	for _, w := range r.written {
		if w.committed > shown && r.comesBefore(w.by, t, false) {
			r.brokenLocked("I6: lease %d has read what lease %d, which came before, has overwritten", t.op.Lease, w.by.op.Lease)
		}
	}
	t.use()
}

// recordUse records that the nodes of earlier holders were deleted, if the lease is
// still valid: then all was sent in its session.
func (r *record) recordUse(t *tenure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.lease.Err() == nil {
		t.use()
	}
}

// comesBefore tells whether a lease is over before another begins, on a lock that both
// have; if used is set, on one that the other was used on.
func (r *run) comesBefore(a, b *tenure, used bool) bool {
	if r.subject.excludes == nil {
		return false
	}
	for _, s := range a.op.Slots {
		for _, later := range b.op.Slots {
			if s.lock == later.lock && s.token < later.token && (later.used || !used) && r.subject.excludes(s, later) {
				return true
			}
		}
	}
	return false
}
