package retry

// Verdict says how one attempt ended. The zero Verdict is none of the four and is
// treated as [Fatal], so that a forgotten case neither hides an error nor repeats it.
type Verdict int

const (
	// Done means that the operation succeeded, or that its goal is reached although it
	// returned an error (the thing to delete was already gone).
	Done Verdict = iota + 1

	// Again means that the attempt certainly had no effect and that another one may
	// succeed: the request never left, or was refused for a passing reason.
	Again

	// Unknown means that the attempt may or may not have taken effect, and may even do
	// so later: it was sent, and the answer never came.
	Unknown

	// Fatal means that the operation failed for good: another attempt would fail in the
	// same way, or must not be made.
	Fatal
)

// Classifier judges the error of one attempt. It is never asked about nil, which always
// means [Done]. It must be safe for use by several loops at once if the loops share it,
// and should decide by errors.Is and errors.As, never by an error's text.
type Classifier func(err error) Verdict
