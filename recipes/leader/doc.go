// Package leader lets the processes of a service elect one of them as leader. Of all
// candidates of one path, at most one holds a valid term, which is a [lease.Lease]. It
// is fair: terms are granted in the order in which the candidates joined the queue.
//
// Most programs need nothing but [Election.Lead]:
//
//	election, err := leader.New(client, "/services/billing/leader")
//	if err != nil {
//		return err
//	}
//	err = election.Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
//		return bill(ctx, term.Token()) // until ctx ends
//	})
//	if errors.Is(err, context.Canceled) { // the program ends, as by signal.NotifyContext
//		return nil
//	}
//	return err
//
// [Election.Acquire] is for programs that hold the term themselves, with everything
// that package lease offers. [Election.Leader] and [Election.Observe] report who leads,
// also to processes that are no candidates.
//
// A term ends, for the process that holds it, before the ensemble can grant another. An
// election does not stop a process that was paused from acting after its term was lost.
// The term's token ([lease.Lease.Token]), which grows from each leader to the next, and
// [lease.Lease.Check] do: see package lease.
//
// # The life of a candidate in Lead
//
//	campaign --> term --> fn --+-- fn returned nil ----------------> resign, campaign again
//	   ^                       +-- fn returned an error -----------> resign, pause, campaign again
//	   |                       +-- revocation requested: ctx ends -> fn returns, resign, campaign again
//	   |                       +-- term lost: ctx ends ------------> fn returns, campaign again
//	   |                       +-- Lead's ctx ends: ctx ends ------> fn returns, resign, return
//	   |                       +-- fn returned ErrStop ------------> resign, return
//	   +--- session ended      +-- fn panicked --------------------> resign, panic
//
// Lead resigns only after fn has returned, so the next leader does not begin while this
// one winds down. If fn does not return when its context has ended, this candidate does
// not campaign again, and, unless the term was lost, no other becomes leader.
//
// A candidate that campaigns again does so at the end of the queue, behind the others.
//
// # Choosing the next leader
//
// [Election.MakeNext] makes a certain candidate the next one behind the leader, which
// then resigns, or is asked to by [lease.RequestRevocation]:
//
//	at first                  a leads, b c d wait
//	after MakeNext for d      a leads, d b c wait: b and c were asked to join again
//	after a has resigned      d leads, b c wait, and a, if it campaigns again
//
// # Interoperability
//
// The znodes are those of Apache Curator's LeaderLatch, so Go and Java services elect
// one leader on the same path, and show each other's ids. Its LeaderSelector has the
// znodes of a mutex: share its path with package mutex. Beside an election it would
// lead as well. Children of the path that are not nodes of candidates are ignored. A
// path that another recipe of this module, or a LeaderSelector, is using is refused
// ([lease.ErrOtherRecipe]).
//
// # Cost
//
// A campaign costs what a mutex costs: one write, with a read on the same round trip,
// if there is no leader; otherwise two or three more reads, and then nothing until the
// grant. The end of a term wakes one candidate, and all observers: each observer lists
// the candidates once.
package leader
