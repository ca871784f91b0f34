package retry

// Verdict says how one attempt ended. The zero Verdict is none of the four and counts
// as [Fatal], so that a forgotten case neither hides an error nor repeats the
// operation.
type Verdict int

const (
	// Done means that the operation succeeded, or that its goal is reached although it
	// returned an error (for example, the node to delete was already gone).
	Done Verdict = iota + 1

	// Again means that the attempt certainly had no effect and that another one may
	// succeed: the request was never sent, or was refused for a temporary reason.
	Again

	// Unknown means that the attempt may have taken effect, or may do so later: the
	// request was sent, and no answer came.
	Unknown

	// Fatal means that the operation failed for good: another attempt would fail in the
	// same way, or must not be made.
	Fatal
)

// Classifier returns the [Verdict] on the error of one attempt. It is never called with
// nil, which always means [Done]. If several loops share it, it must be safe for
// concurrent use. It should use errors.Is and errors.As, never an error's text.
type Classifier func(err error) Verdict
