package jute

import (
	"encoding/binary"
	"fmt"
	"io"
)

// MaxFrame is the largest frame that a real server accepts by default (jute.maxbuffer):
// one byte less than 1 MiB.
const MaxFrame = 0xfffff

// firstChunk limits what is allocated before any byte of a frame's body has arrived.
const firstChunk = 4096

// ReadFrame reads one frame, a 32-bit length and as many bytes, and returns the bytes.
// A length below 0 or above limit is an error that wraps [ErrMalformed]; the reader is
// then somewhere inside the stream and of no more use. An end before the length is
// io.EOF, an end inside a frame io.ErrUnexpectedEOF.
func ReadFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return ReadBody(r, int32(binary.BigEndian.Uint32(head[:])), limit)
}

// ReadBody reads the rest of a frame whose length was read already. See [ReadFrame].
func ReadBody(r io.Reader, length int32, limit int) ([]byte, error) {
	if length < 0 || int(length) > limit {
		return nil, fmt.Errorf("%w: a frame of length %d (limit %d)", ErrMalformed, length, limit)
	}
	want := int(length)
	body := make([]byte, min(want, firstChunk))
	for read := 0; ; {
		n, err := io.ReadFull(r, body[read:])
		read += n
		if err == io.EOF && want > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && want > 0 {
			return nil, err
		}
		if read == want {
			return body, nil
		}
		grown := make([]byte, min(want, 4*len(body)))
		copy(grown, body)
		body = grown
	}
}
