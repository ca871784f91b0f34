package guard

import (
	"fmt"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// What answers must look like. Nothing in them may be longer than the rest of the
// answer, and nothing but data is null. An answer may have more fields than are known
// here, such as the Stat behind a new container.

// checkAnswer returns what is wrong with the body of an answer without an error code.
func checkAnswer(op int32, body []byte) error {
	d := jute.NewDecoder(body)
	switch op {
	case OpDelete, OpRemoveWatches: // nothing
	case OpCreate, OpContainer, OpCreateTTL, OpSync:
		readString(d)
	case OpExists, OpSetData, OpSetACL:
		d.Stat()
	case OpGetData:
		d.Buffer()
		d.Stat()
	case OpGetChildren2:
		readVector(d, func() { readString(d) })
		d.Stat()
	case OpGetACL:
		readVector(d, func() { d.Int32(); readString(d); readString(d) })
		d.Stat()
	case OpMulti, OpMultiRead:
		readResults(d)
	default:
		d.Fail("answers to this operation are not known")
	}
	if d.Err() != nil {
		return fmt.Errorf("answer to operation %d: %w", op, d.Err())
	}
	return nil
}

// parseEvent reads the body of an event. Servers send events of nodes only.
func parseEvent(body []byte) (kind int32, path string, err error) {
	d := jute.NewDecoder(body)
	if kind = d.Int32(); kind < 1 {
		d.Fail("an event of type %d", kind)
	}
	d.Int32() // a state
	return kind, string(readString(d)), d.Err()
}

// readString reads a string without a copy.
func readString(d *jute.Decoder) []byte {
	s := d.Buffer()
	if s == nil {
		d.Fail("a string that is null")
	}
	return s
}

// readVector reads a vector. A length that is too great becomes a fault soon: each
// element has a length field at least.
func readVector(d *jute.Decoder, element func()) {
	n := d.Int32()
	if n < 0 {
		d.Fail("a vector of %d elements", n)
	}
	for ; n > 0 && d.Err() == nil; n-- {
		element()
	}
}

// readResults reads the results of a multi, or of one that reads.
func readResults(d *jute.Decoder) {
	for h := d.MultiHeader(); !h.Done && d.Err() == nil; h = d.MultiHeader() {
		switch h.Type {
		case OpCheck, OpDelete:
		case OpCreate:
			readString(d)
		case OpCreate2:
			readString(d)
			d.Stat()
		case OpSetData:
			d.Stat()
		case OpGetChildren:
			readVector(d, func() { readString(d) })
		case typeError:
			if code := d.Int32(); code > 0 {
				d.Fail("error code %d", code)
			}
		default:
			d.Fail("a result of type %d", h.Type)
		}
	}
}
