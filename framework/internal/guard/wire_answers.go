package guard

import "fmt"

// What answers must look like. Nothing in them may be longer than the rest of the
// answer, and nothing but data is null. An answer may have more fields than are known
// here, such as the Stat behind a new container.

const statBytes = 6*8 + 5*4

// checkAnswer returns what is wrong with the body of an answer without an error code.
func checkAnswer(op int32, body []byte) error {
	r := answerReader{rest: body}
	switch op {
	case OpDelete, OpRemoveWatches: // nothing
	case OpCreate, OpContainer, OpCreateTTL, OpSync:
		r.text()
	case OpExists, OpSetData, OpSetACL:
		r.skip(statBytes, "a stat")
	case OpGetData:
		r.data()
		r.skip(statBytes, "a stat")
	case OpGetChildren2:
		r.vector(func() { r.text() })
		r.skip(statBytes, "a stat")
	case OpGetACL:
		r.vector(func() { r.number("permissions"); r.text(); r.text() })
		r.skip(statBytes, "a stat")
	case OpMulti:
		r.results()
	default:
		r.fail("answers to this operation are not known")
	}
	if r.fault != nil {
		return fmt.Errorf("%w: answer to operation %d: %w", errShortFrame, op, r.fault)
	}
	return nil
}

// checkEvent returns what is wrong with the body of an event. Servers send events of
// nodes only.
func checkEvent(body []byte) error {
	r := answerReader{rest: body}
	if kind := r.number("a type"); kind < 1 {
		r.fail("an event of type %d", kind)
	}
	r.number("a state")
	r.text()
	if r.fault != nil {
		return fmt.Errorf("%w: %w", errShortFrame, r.fault)
	}
	return nil
}

// An answerReader skips the parts of an answer one after the other. After the first
// fault nothing is left.
type answerReader struct {
	rest  []byte
	fault error
}

func (r *answerReader) fail(format string, args ...any) {
	if r.fault == nil {
		r.fault = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

// skip skips so many bytes, and returns them.
func (r *answerReader) skip(bytes int, what string) (skipped []byte) {
	if bytes < 0 || bytes > len(r.rest) {
		r.fail("%s of %d bytes where %d are left", what, bytes, len(r.rest))
		return nil
	}
	skipped, r.rest = r.rest[:bytes], r.rest[bytes:]
	return skipped
}

func (r *answerReader) number(what string) int32 {
	if b := r.skip(4, what); b != nil {
		return be32(b)
	}
	return 0
}

// text skips a string, and returns it.
func (r *answerReader) text() []byte {
	return r.skip(int(r.number("the length of a string")), "a string")
}

// data skips what a node stores, which may be null.
func (r *answerReader) data() { r.skip(max(0, int(r.number("the length of data"))), "data") }

// vector skips a vector. A length that is too great becomes a fault soon: each element
// has a length field at least.
func (r *answerReader) vector(element func()) {
	n := r.number("the length of a vector")
	if n < 0 {
		r.fail("a vector of %d elements", n)
	}
	for ; n > 0 && r.fault == nil; n-- {
		element()
	}
}

// results skips the results of a multi.
func (r *answerReader) results() {
	for r.fault == nil {
		head := r.skip(multiHeader, "the header of a result")
		if head == nil || head[4] != 0 { // the end
			return
		}
		switch kind := be32(head); kind {
		case OpCheck, OpDelete:
		case OpCreate:
			r.text()
		case OpSetData:
			r.skip(statBytes, "a stat")
		case typeError:
			if code := r.number("an error code"); code > 0 {
				r.fail("error code %d", code)
			}
		default:
			r.fail("a result of type %d", kind)
		}
	}
}
