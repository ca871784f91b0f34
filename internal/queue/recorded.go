package queue

import (
	"context"
	"errors"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// An admission is what a position is admitted by, in a queue with a lock-delay.
type admission struct {
	policy Policy
	ahead  []znode.Name // that counted, in order
}

// KeepAdmission has the position remember by what it is admitted.
func (p *Position) KeepAdmission() { p.admission = new(admission) }

// admittedBy remembers, if that is needed, that a policy admits the position behind
// those who count. The caller has the lock of the view.
func (p *Position) admittedBy(policy Policy, ahead Ahead) {
	if p.admission == nil {
		return
	}
	*p.admission = admission{policy: policy}
	for name := range ahead.All {
		p.admission.ahead = append(p.admission.ahead, name)
	}
	slices.Reverse(p.admission.ahead)
}

// Ahead returns those ahead of the position when it was admitted, in order.
func (p *Position) Ahead() []znode.Name { return p.admission.ahead }

// DropAhead has those ahead not count any more that are gone, without an event for it.
func (p *Position) DropAhead(gone func(name znode.Name) bool) {
	p.admission.ahead = slices.DeleteFunc(p.admission.ahead, gone)
}

// IsAdmittedBehind reports whether a position that is admitted would be if these were
// ahead of it as well.
func (p *Position) IsAdmittedBehind(others []znode.Name) bool {
	all := slices.Concat(p.admission.ahead, others)
	slices.SortFunc(all, znode.Compare)
	return len(p.admission.policy(p.self, Before(all))) == 0
}

// IsRecorded says that the node is recorded, or may be, as that of a holder. The record
// is deleted if the position leaves.
func (p *Position) IsRecorded(record string) { p.recordedAt = record }

// Record returns the path of the record, "" without one.
func (p *Position) Record() string { return p.recordedAt }

// Unrecord deletes the record of a position that is not granted its slot, in the
// background, also after the end of the session. A transaction that makes the record,
// and is not answered, has no effect behind the delete: that is sent later, over the
// same connection, or over a later one, and then servers refuse what they have not
// carried out of the earlier one. A session that is over may be the exception; then the
// record looks like an unclean end.
func (p *Position) Unrecord() {
	if p.recordedAt == "" {
		return
	}
	after := kit.Of(p.client.In(nil)) // also if the session is over
	sent := p.session.Err() == nil && kit.Of(p.client).SendDelete(context.Background(), p.recordedAt, false, func(err error) {
		if err != nil && !errors.Is(err, framework.ErrNoNode) {
			after.DeleteInBackground(p.recordedAt)
		}
	})
	if !sent {
		after.DeleteInBackground(p.recordedAt)
	}
}
