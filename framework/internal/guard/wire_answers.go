package guard

import (
	"fmt"
	"strconv"
	"strings"
)

// What answers must look like for the library to read them. It makes room for as many
// elements as a vector says that it has, ends the process when a length is below zero
// or an answer ends in the header of a multi's result, and where an answer is short in
// another way reads on in what an earlier one has left in its buffer. So it gets none
// that was not checked: nothing is longer than what there is of the answer, and nothing
// is null but data. More may follow than is known here; servers append, as they do the
// Stat of a new container.

const statBytes = 6*8 + 5*4

// checkAnswer says what is wrong with the body of an answer without an error code.
func checkAnswer(op int32, body []byte) error {
	r := answerReader{rest: body}
	switch op {
	case opDelete, opSetAuth, opSetWatches, opClose: // nothing
	case opCreate, opContainer, opCreateTTL, opSync:
		r.text()
	case opExists, opSetData, opSetACL:
		r.skip(statBytes, "a stat")
	case opGetData:
		r.data()
		r.skip(statBytes, "a stat")
	case opGetChildren2:
		r.vector(func() { r.text() })
		r.skip(statBytes, "a stat")
	case opGetACL:
		r.vector(func() { r.number("permissions"); r.text(); r.text() })
		r.skip(statBytes, "a stat")
	case opMulti:
		r.results()
	default:
		r.fail("nothing is known of such answers")
	}
	if r.fault != nil {
		return fmt.Errorf("%w: answer to operation %d: %w", errShortFrame, op, r.fault)
	}
	return nil
}

// checkEvent says what is wrong with the body of an event. Servers tell of nodes only;
// the library takes others for its own.
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

// An answerReader passes over the parts of an answer. After the first fault nothing is
// left.
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

// pass passes over so many bytes, and returns them.
func (r *answerReader) skip(bytes int, what string) (passed []byte) {
	if bytes < 0 || bytes > len(r.rest) {
		r.fail("%s of %d bytes where %d are left", what, bytes, len(r.rest))
		return nil
	}
	passed, r.rest = r.rest[:bytes], r.rest[bytes:]
	return passed
}

func (r *answerReader) number(what string) int32 {
	if b := r.skip(4, what); b != nil {
		return be32(b)
	}
	return 0
}

// text passes over a string, and returns it.
func (r *answerReader) text() []byte {
	return r.skip(int(r.number("the length of a string")), "a string")
}

// data passes over what a node stores, which may be null.
func (r *answerReader) data() { r.skip(max(0, int(r.number("the length of data"))), "data") }

// vector passes over as many elements as there are said to be. Whether there are shows
// then: each has a length at least.
func (r *answerReader) vector(element func()) {
	n := r.number("the length of a vector")
	if n < 0 {
		r.fail("a vector of %d elements", n)
	}
	for ; n > 0 && r.fault == nil; n-- {
		element()
	}
}

// results passes over the results of a multi.
func (r *answerReader) results() {
	for r.fault == nil {
		head := r.skip(multiHeader, "the header of a result")
		if head == nil || head[4] != 0 { // the end
			return
		}
		switch kind := be32(head); kind {
		case opCheck, opDelete:
		case opCreate:
			r.text()
		case opSetData:
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

// RefusedSize returns the size of an answer that was too large to be read. In its place
// the library gets an error code that no server sends, the size itself, which tells
// whoever asked for it. The library has no name for such a code but puts it in a text.
func RefusedSize(err error) (bytes int, ok bool) {
	digits, ok := strings.CutPrefix(err.Error(), "unknown error: ")
	if !ok {
		return 0, false
	}
	bytes, err = strconv.Atoi(digits)
	return bytes, err == nil && bytes > 0
}
