package proxy

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
)

// maxFrame is far above what servers accept. A greater length is the beginning of TLS
// or of a four-letter word.
const maxFrame = 16 << 20

// connectXid stands for the number that the first request of a connection, and its
// reply, do not have.
const connectXid int32 = math.MinInt32

// A frame is one message of the protocol, or a piece of what is not the protocol.
type frame struct {
	bytes []byte // as they were read, the length included
	first bool   // of its connection and direction
	raw   bool   // not a message
}

// frameReader splits a stream into frames.
type frameReader struct {
	src     *bufio.Reader
	started bool
	raw     bool
}

func newFrameReader(src io.Reader) *frameReader {
	return &frameReader{src: bufio.NewReaderSize(src, 32<<10)}
}

// next returns the next frame; with an error, what was read before it.
func (r *frameReader) next() (frame, error) {
	if r.raw {
		buf := make([]byte, 32<<10)
		n, err := r.src.Read(buf)
		return frame{bytes: buf[:n], raw: true}, err
	}
	f := frame{first: !r.started, bytes: make([]byte, 4)}
	r.started = true
	n, err := io.ReadFull(r.src, f.bytes)
	if err != nil {
		return frame{bytes: f.bytes[:n], raw: true}, err
	}
	size := binary.BigEndian.Uint32(f.bytes)
	if size > maxFrame {
		r.raw = true
		return frame{bytes: f.bytes, raw: true}, nil
	}
	f.bytes = append(f.bytes, make([]byte, size)...)
	n, err = io.ReadFull(r.src, f.bytes[4:])
	if err != nil {
		return frame{bytes: f.bytes[:4+n], raw: true}, err
	}
	return f, nil
}

// A request is what a hook can match in a message to the server.
type request struct {
	xid  int32
	op   int32
	path string // "" if the message names none
}

// request reads the beginning of a message to the server.
func (f frame) request() (request, bool) {
	switch {
	case f.raw:
		return request{}, false
	case f.first:
		return request{xid: connectXid, op: OpConnect}, true
	case len(f.bytes) < 4+8:
		return request{}, false
	}
	body := body(f.bytes[4:])
	r := request{xid: body.int(), op: body.int()}
	switch r.op {
	case OpMulti, opMultiRead:
		body.skip(4 + 1 + 4) // the header of the first operation
		r.path = body.text()
	case OpPing, OpAuth, OpSetWatches, opSetWatches2, OpClose, opSASL, opWhoAmI:
	default:
		r.path = body.text()
	}
	return r, true
}

// replyTo returns the number of the request that a message from the server answers.
func (f frame) replyTo() (xid int32, ok bool) {
	switch {
	case f.raw || len(f.bytes) < 8:
		return 0, false
	case f.first:
		return connectXid, true
	}
	b := body(f.bytes[4:])
	return b.int(), true
}

// A body is read from its beginning; missing bytes read as zero.
type body []byte

func (b *body) int() int32 {
	v := b.skip(4)
	if len(v) < 4 {
		return 0
	}
	return int32(binary.BigEndian.Uint32(v)) //nolint:gosec // the protocol's numbers are signed
}

func (b *body) text() string {
	n := b.int()
	if n < 0 || int(n) > len(*b) {
		return ""
	}
	return string(b.skip(int(n)))
}

func (b *body) skip(n int) []byte {
	n = min(n, len(*b))
	head := (*b)[:n]
	*b = (*b)[n:]
	return head
}
