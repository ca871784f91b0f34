package proxy

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func message(op byte, rest ...byte) []byte {
	body := append([]byte{0, 0, 0, 7, 0, 0, 0, op}, rest...)
	return append([]byte{0, 0, 0, byte(len(body))}, body...)
}

func TestRequestIsReadFromAFrame(t *testing.T) {
	path := []byte{0, 0, 0, 2, '/', 'a'}
	for name, c := range map[string]struct {
		frame frame
		want  request
		ok    bool
	}{
		"connect":        {frame{bytes: message(1, path...), first: true}, request{xid: connectXid, op: OpConnect}, true},
		"create":         {frame{bytes: message(1, path...)}, request{xid: 7, op: OpCreate, path: "/a"}, true},
		"transaction":    {frame{bytes: message(14, append(make([]byte, 9), path...)...)}, request{xid: 7, op: OpMulti, path: "/a"}, true},
		"auth":           {frame{bytes: message(100, path...)}, request{xid: 7, op: OpAuth}, true},
		"ping":           {frame{bytes: message(11)}, request{xid: 7, op: OpPing}, true},
		"path too short": {frame{bytes: message(1, 0, 0, 0, 9, '/')}, request{xid: 7, op: OpCreate}, true},
		"negative path":  {frame{bytes: message(1, 255, 255, 255, 255)}, request{xid: 7, op: OpCreate}, true},
		"no header":      {frame{bytes: []byte{0, 0, 0, 2, 0, 7}}, request{}, false},
		"raw":            {frame{bytes: []byte("srvr"), raw: true}, request{}, false},
	} {
		got, ok := c.frame.request()
		require.Equal(t, c.ok, ok, name)
		require.Equal(t, c.want, got, name)
	}
}

// All bytes of the stream come out again, in whichever frames.
func FuzzFramesLoseNothing(f *testing.F) {
	f.Add([]byte("srvr"))
	f.Add([]byte{0, 0, 0})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 9, 1, 2})
	f.Add(append(message(1, 0, 0, 0, 2, '/', 'a'), message(11)...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := newFrameReader(bytes.NewReader(stream))
		var out []byte
		for {
			frame, err := r.next()
			frame.request()
			frame.replyTo()
			out = append(out, frame.bytes...)
			if err != nil {
				break
			}
		}
		require.True(t, bytes.Equal(stream, out), "%v became %v", stream, out)
	})
}
