// Package retry repeats a failed operation, as long as that is safe and the caller's
// context has not ended. It knows nothing of ZooKeeper. You need only its policies, for
// framework.Config.Retry and Reconnect, and for leader.WithBackoff.
//
// Three things decide what happens after an attempt:
//
//   - the [Verdict] of a [Classifier] on its error: the operation is done, the attempt
//     had no effect, it may have had one, or the operation has failed for good;
//   - the [Policy]: how long to wait before the next attempt, and when to stop;
//   - the context: when it ends, the loop ends at once, also during a wait.
//
// # Unknown outcomes
//
// A request that was sent and not answered may have taken effect, or may do so later.
// If "append a line", "create the next numbered node" or "pay" is repeated after such
// an [Unknown] outcome, it may happen twice. Only the caller can find out what
// happened, for example by reading the data back. So [Do] returns an unknown outcome at
// once. [DoIdempotent] is for operations whose repetition does no harm: reads, and
// writes that set an absolute state.
//
// Policies are built on github.com/cenkalti/backoff/v4.
package retry
