package framework

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// What answers must look like for the library to read them. It makes room for as many
// elements as a vector says that it has, ends the process when a length is below zero or
// an answer ends in the header of a multi's result, and where an answer is short in
// another way reads on in what an earlier one has left in its buffer. So it gets none
// that was not checked: nothing is longer than what there is of the answer, and nothing is
// null but data. More may follow than is known here; servers append, as they do the
// Stat of a new container.

// checkAnswer says what is wrong with the body of an answer without an error code.
func checkAnswer(op int32, body []byte) error {
	r := answerReader{Decoder: jute.NewDecoder(body)}
	switch op {
	case opDelete, opSetAuth, opSetWatches, opClose: // nothing
	case opCreate, opContainer, opCreateTTL, opSync:
		r.text()
	case opExists, opSetData, opSetACL:
		r.Stat()
	case opGetData:
		r.Buffer()
		r.Stat()
	case opGetChildren2:
		for n := r.count(); n > 0 && r.ok(); n-- {
			r.text()
		}
		r.Stat()
	case opGetACL:
		for n := r.count(); n > 0 && r.ok(); n-- {
			r.Int32()
			r.text()
			r.text()
		}
		r.Stat()
	case opMulti:
		r.multi()
	default:
		r.fail("nothing is known of such answers")
	}
	if err := r.err(); err != nil {
		return fmt.Errorf("%w: answer to operation %d: %w", errShortFrame, op, err)
	}
	return nil
}

// checkEvent says what is wrong with the body of an event. Servers tell of nodes only; the
// library takes others for its own.
func checkEvent(body []byte) error {
	r := answerReader{Decoder: jute.NewDecoder(body)}
	if kind := r.Int32(); kind < 1 && r.ok() {
		r.fail(fmt.Sprintf("type %d", kind))
	}
	r.Int32()
	r.text()
	if err := r.err(); err != nil {
		return fmt.Errorf("%w: event: %w", errShortFrame, err)
	}
	return nil
}

// An answerReader passes over the parts of an answer. Where a [jute.Decoder] is more
// generous than the library it notes a fault of its own, the first one.
type answerReader struct {
	*jute.Decoder
	fault error
}

func (r *answerReader) err() error {
	if r.fault != nil {
		return r.fault
	}
	return r.Err()
}

func (r *answerReader) ok() bool { return r.err() == nil }

func (r *answerReader) fail(what string) {
	if r.ok() {
		r.fault = errors.New(what)
	}
}

// text passes over a string.
func (r *answerReader) text() {
	if r.Buffer() == nil {
		r.fail("a string is null")
	}
}

// count reads how many elements a vector has. That there are as many shows when they are read.
func (r *answerReader) count() int32 {
	n := r.Int32()
	if n < 0 {
		r.fail(fmt.Sprintf("a vector of %d elements", n))
	}
	return n
}

// multi passes over the results of a multi.
func (r *answerReader) multi() {
	for r.ok() {
		h := r.MultiHeader()
		if h.Done || !r.ok() {
			return
		}
		switch h.Type {
		case opCheck, opDelete:
		case opCreate:
			r.text()
		case opSetData:
			r.Stat()
		case typeError:
			if code := r.Int32(); code > 0 {
				r.fail(fmt.Sprintf("error code %d", code))
			}
		default:
			r.fail(fmt.Sprintf("a result of type %d", h.Type))
		}
	}
}

// refusedSize returns the size of an answer that was too large to be read. In its place
// the library gets an error code that no server sends, the size itself, which tells whoever
// asked for it. The library has no name for such a code but puts it in a text.
func refusedSize(err error) (bytes int, ok bool) {
	digits, ok := strings.CutPrefix(err.Error(), "unknown error: ")
	if !ok {
		return 0, false
	}
	bytes, err = strconv.Atoi(digits)
	return bytes, err == nil && bytes > 0
}
