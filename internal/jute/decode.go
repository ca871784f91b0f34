package jute

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is wrapped by every error of a [Decoder] and of [ReadFrame].
var ErrMalformed = errors.New("malformed frame")

// Decoder reads the fields of records from one frame. After the first fault every
// method returns a zero value, and [Decoder.Err] returns the fault.
type Decoder struct {
	rest []byte
	err  error
}

// NewDecoder returns a Decoder over b. Buffers it returns share b's memory, so b must
// not be changed afterwards.
func NewDecoder(b []byte) *Decoder { return &Decoder{rest: b} }

// Err returns the first fault, or nil.
func (d *Decoder) Err() error { return d.err }

// Fail records a fault that the caller has found, unless there was one, and leaves
// nothing to read.
func (d *Decoder) Fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
	d.rest = nil
}

// Len returns the number of unread bytes.
func (d *Decoder) Len() int { return len(d.rest) }

// Rest returns the unread bytes.
func (d *Decoder) Rest() []byte { return d.rest }

// take returns the next n bytes. If there are fewer it records a fault and returns nil.
func (d *Decoder) take(n int, what string) []byte {
	if n > len(d.rest) {
		d.Fail("%s needs %d bytes, %d are left", what, n, len(d.rest))
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

// Int32 reads an int.
func (d *Decoder) Int32() int32 {
	b := d.take(4, "an int")
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

// Int64 reads a long.
func (d *Decoder) Int64() int64 {
	b := d.take(8, "a long")
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// Bool reads a boolean; any byte except 0 is true.
func (d *Decoder) Bool() bool {
	b := d.take(1, "a boolean")
	return b != nil && b[0] != 0
}

// length reads the length of a string or buffer. ok is false for null and after a
// fault.
func (d *Decoder) length(what string) (n int, ok bool) {
	v := d.Int32()
	switch {
	case d.err != nil || v == nullLength:
		return 0, false
	case v < 0:
		d.Fail("%s of length %d", what, v)
		return 0, false
	}
	return int(v), true
}

// String reads a string; null reads as the empty string.
func (d *Decoder) String() string {
	n, ok := d.length("a string")
	if !ok {
		return ""
	}
	return string(d.take(n, "a string"))
}

// Buffer reads bytes; null reads as nil, and only null does.
func (d *Decoder) Buffer() []byte {
	n, ok := d.length("a buffer")
	if !ok {
		return nil
	}
	b := d.take(n, "a buffer")
	if b == nil && d.err == nil {
		return []byte{}
	}
	return b
}

// count reads the length of a vector. As in ZooKeeper a negative length means an empty
// vector. Each element takes at least size bytes, so a length that cannot fit is a
// fault at once, and no caller loops a billion times.
func (d *Decoder) count(size int) int {
	n := int(d.Int32())
	if d.err != nil || n <= 0 {
		return 0
	}
	if n > len(d.rest)/size {
		d.Fail("a vector of %d elements in %d bytes", n, len(d.rest))
		return 0
	}
	return n
}

// Strings reads a vector of strings.
func (d *Decoder) Strings() []string {
	n := d.count(4)
	if n == 0 {
		return nil
	}
	v := make([]string, 0, min(n, 64))
	for range n {
		v = append(v, d.String())
		if d.err != nil {
			return nil
		}
	}
	return v
}
