package guard

import (
	"bytes"
	"fmt"
	"testing"
)

// endless sends the same bytes again and again.
type endless struct {
	says []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.says[e.at:])
	e.at = (e.at + n) % len(e.says)
	return n, nil
}

// The cost of the guard per answer.
func BenchmarkGuardReads(b *testing.B) {
	stat := make([]byte, 68)
	listing := func(n int) []byte {
		body := []byte{0, byte(n >> 16), byte(n >> 8), byte(n)}
		for i := range n {
			body = append(body, text(fmt.Sprintf("_c_0e1ab2c3-d4e5-46f7-8899-aabbccddeeff-lock-%010d", i))...)
		}
		return append(body, stat...)
	}
	for _, c := range []struct {
		name string
		op   int32
		body []byte
	}{
		{"create", OpCreate, text("/locks/orders/_c_0e1ab2c3-d4e5-46f7-8899-aabbccddeeff-lock-0000000001")},
		{"delete", OpDelete, nil},
		{"get", 4, append(text("data of a holder"), stat...)},
		{"list of 3", 12, listing(3)},
		{"list of 1000", 12, listing(1000)},
		{"list of 200000", 12, listing(200_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			conn := connected(b)
			record, frame := text("/a"), answer(number(1), 5, 0, c.body...)
			conn.read.Reset(&endless{says: bytes.Repeat(frame, max(1, 4096/len(frame)))})
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				conn.guard.xids.Store(0)
				conn.Send(c.op, record, deaf{})
				if err := conn.nextFrame(); err != nil {
					b.Fatal(err)
				}
				conn.out = conn.out[:0] // as if it were written
			}
		})
	}
}
