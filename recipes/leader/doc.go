// Package leader is a leader election: of all processes that take part in the election
// of one path, at most one holds a valid term, which is a [lease.Lease]. It does not
// stop a process that was paused from acting on after its term was lost; see package
// lease for what to do about that. It is fair: terms are given in the order in which
// the candidates joined the line.
//
// Most programs need nothing but [Election.Lead]:
//
//	election, err := leader.New(client, "/services/billing/leader")
//	if err != nil {
//		return err
//	}
//	return election.Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
//		return bill(ctx, term.Token()) // until ctx ends
//	})
//
// [Election.Acquire] is for those that want to hold the term themselves, with
// everything that package lease offers. [Election.Leader] and [Election.Observe] tell
// who leads, also to processes that do not take part.
//
// Two leaders at once are prevented as two holders of a mutex are: a term is over, for
// the process that has it, before the ensemble can give the place to another. It does
// not stop a process that was paused from acting on after its term was lost; the term's
// token ([lease.Lease.Token]), which grows from each leader to the next, and
// [lease.Lease.Check] do. See package lease.
//
// # The life of a participant in Lead
//
//	campaign --> term --> fn --+-- fn returned nil ---------------> resign, campaign again
//	   ^                       +-- fn returned an error ----------> resign, pause, campaign again
//	   |                       +-- asked to give way: ctx ends ---> fn returns, resign, campaign again
//	   |                       +-- term lost: ctx ends -----------> fn returns, campaign again
//	   |                       +-- Lead's ctx ends: ctx ends -----> fn returns, resign, return
//	   |                       +-- fn returned ErrStop -----------> resign, return
//	   +--- session ended      +-- fn panicked -------------------> resign, panic
//
// It resigns only after fn has returned, so the next leader does not begin while this
// one winds down. An fn that does not return when its context has ended keeps this
// participant out of the election, and, where the term was not lost, the election
// without another leader.
//
// Whoever campaigns again does so at the end of the line, so that the others come
// first.
//
// # Neighbours
//
// The znodes are those of Apache Curator's LeaderLatch, so Go and Java services elect
// one leader on the same path, and show each other's ids. Children of the path that are
// no participants' nodes are ignored, except that a path which another of our recipes
// is using is refused ([lease.ErrOtherRecipe]).
//
// # Cost
//
// A campaign costs what a mutex costs: one write, with a read in its wake, when nobody
// leads; two more reads, and then nothing until its turn comes, otherwise. The end of a
// term wakes one of those who campaign, and all who observe: each of them lists the
// participants once.
package leader
