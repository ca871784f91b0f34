package jute

import "encoding/binary"

// nullLength is the length that stands for a null string, buffer or vector.
const nullLength = -1

// Encoder appends records to a growing buffer. The zero value is ready to use.
type Encoder struct {
	buf []byte
}

// NewEncoder returns an Encoder with space for so many bytes.
func NewEncoder(capacity int) *Encoder { return &Encoder{buf: make([]byte, 0, capacity)} }

// NewFrame returns an Encoder for a frame, with space for the frame's length. Finish
// the frame with [Encoder.Frame].
func NewFrame(capacity int) *Encoder {
	return &Encoder{buf: make([]byte, 4, 4+capacity)}
}

// Frame fills in the length of the frame and returns the frame. The encoder must come
// from [NewFrame].
func (e *Encoder) Frame() []byte {
	binary.BigEndian.PutUint32(e.buf, uint32(len(e.buf)-4))
	return e.buf
}

// Bytes returns the appended bytes. They are valid until the next call.
func (e *Encoder) Bytes() []byte { return e.buf }

// Int32 appends an int.
func (e *Encoder) Int32(v int32) {
	e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(v))
}

// Int64 appends a long.
func (e *Encoder) Int64(v int64) {
	e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(v))
}

// Bool appends a boolean.
func (e *Encoder) Bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	e.buf = append(e.buf, b)
}

// String appends a string; there is no way to append null.
func (e *Encoder) String(s string) {
	e.Int32(int32(len(s)))
	e.buf = append(e.buf, s...)
}

// Buffer appends bytes; nil becomes null.
func (e *Encoder) Buffer(b []byte) {
	if b == nil {
		e.Int32(nullLength)
		return
	}
	e.Int32(int32(len(b)))
	e.buf = append(e.buf, b...)
}

// Strings appends a vector of strings.
func (e *Encoder) Strings(v []string) {
	e.Int32(int32(len(v)))
	for _, s := range v {
		e.String(s)
	}
}

// Raw appends bytes unchanged.
func (e *Encoder) Raw(b []byte) { e.buf = append(e.buf, b...) }
