// Package retry repeats an operation that failed, as long as that is safe and somebody
// still wants the result. It knows nothing of what it repeats.
//
// Three things decide what happens after an attempt:
//
//   - the [Verdict] of a [Classifier]: did the attempt succeed, did it certainly have
//     no effect, may it have had one, or has it failed for good;
//   - the [Policy]: how long to wait before the next attempt, and when to stop;
//   - the context: when it ends, the loop ends at once, also in mid-wait.
//
// # What is never repeated blindly
//
// A request that was sent and not answered may have taken effect, or may do so later.
// Repeating "append a line", "create the next numbered node" or "pay" after such an
// [Unknown] outcome can do it twice. Only the caller knows how to find out (read back,
// look for a mark it left), so [Do] returns an unknown outcome to it at once.
// [DoIdempotent] is for operations whose repetition does no harm: reads, and writes
// that set an absolute state.
//
// Policies are built over github.com/cenkalti/backoff/v4.
package retry
