package jute

import (
	"bytes"
	"encoding/hex"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoundTrip(t *testing.T) {
	stat := Stat{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	acl := []ACL{{31, ID{"world", "anyone"}}, {1, ID{"digest", "a:b"}}}
	connect := ConnectRequest{LastZxidSeen: 5, TimeOut: 6, SessionID: 7, Password: []byte("secret"), HasReadOnly: true, ReadOnly: true}
	var e Encoder
	e.Int32(-1)
	e.Int64(-2)
	e.Bool(true)
	e.String("é")
	e.Buffer(nil)
	e.Buffer([]byte{})
	e.Buffer([]byte("x"))
	e.Strings([]string{"a", ""})
	e.Stat(&stat)
	e.ACLs(acl)
	e.MultiHeader(MultiHeader{1, true, -1})
	e.ConnectRequest(connect)

	d := NewDecoder(e.Bytes())
	require.EqualValues(t, -1, d.Int32())
	require.EqualValues(t, -2, d.Int64())
	require.True(t, d.Bool())
	require.Equal(t, "é", d.String())
	require.Nil(t, d.Buffer())
	require.Equal(t, []byte{}, d.Buffer())
	require.Equal(t, []byte("x"), d.Buffer())
	require.Equal(t, []string{"a", ""}, d.Strings())
	require.Equal(t, stat, d.Stat())
	require.Equal(t, acl, d.ACLs())
	require.Equal(t, MultiHeader{1, true, -1}, d.MultiHeader())
	require.Equal(t, connect, d.ConnectRequest())
	require.NoError(t, d.Err())
	require.Zero(t, d.Len())
}

// TestRealClient reads the first frame of a real client: go-zookeeper v1.0.4 asking for
// a new session of 10 s.
func TestRealClient(t *testing.T) {
	frame, err := hex.DecodeString("0000002c" + "00000000" + "0000000000000000" + "00002710" + "0000000000000000" +
		"00000010" + "00000000000000000000000000000000")
	require.NoError(t, err)
	body, err := ReadFrame(bytes.NewReader(frame), MaxFrame)
	require.NoError(t, err)
	d := NewDecoder(body)
	require.Equal(t, ConnectRequest{TimeOut: 10_000, Password: make([]byte, 16)}, d.ConnectRequest())
	require.NoError(t, d.Err())
}

func TestFaultsStick(t *testing.T) {
	for name, read := range map[string]func(d *Decoder){
		"int":     func(d *Decoder) { d.Int32() },
		"long":    func(d *Decoder) { d.Int64() },
		"string":  func(d *Decoder) { _ = d.String() },
		"buffer":  func(d *Decoder) { d.Buffer() },
		"strings": func(d *Decoder) { d.Strings() },
		"acls":    func(d *Decoder) { d.ACLs() },
		"stat":    func(d *Decoder) { d.Stat() },
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder([]byte{0, 0, 1})
			read(d)
			require.ErrorIs(t, d.Err(), ErrMalformed)
			first := d.Err()
			require.Zero(t, d.Int64())
			require.Empty(t, d.String())
			require.Equal(t, first, d.Err())
		})
	}
}

func TestNegativeLengths(t *testing.T) {
	minusTwo := []byte{0xff, 0xff, 0xff, 0xfe}
	d := NewDecoder(minusTwo)
	require.Empty(t, d.String())
	require.ErrorIs(t, d.Err(), ErrMalformed)
	d = NewDecoder(minusTwo)
	require.Empty(t, d.Strings(), "a vector of less than nothing is empty, as in ZooKeeper")
	require.NoError(t, d.Err())
}

func TestReadFrame(t *testing.T) {
	for length, want := range map[string]error{
		"ffffffff": ErrMalformed, "00100000": ErrMalformed, "000fffff": io.ErrUnexpectedEOF, "0000": io.ErrUnexpectedEOF, "": io.EOF,
		"00000001": io.ErrUnexpectedEOF,
	} {
		head, err := hex.DecodeString(length)
		require.NoError(t, err)
		_, err = ReadFrame(bytes.NewReader(head), MaxFrame)
		require.ErrorIs(t, err, want, length)
	}
	body, err := ReadFrame(bytes.NewReader(make([]byte, 4)), MaxFrame)
	require.NoError(t, err)
	require.Empty(t, body)
	big := bytes.Repeat([]byte{7}, 100_000)
	e := NewFrame(0)
	e.Raw(big)
	body, err = ReadFrame(bytes.NewReader(e.Frame()), MaxFrame)
	require.NoError(t, err)
	require.Equal(t, big, body)
}

// A length in the input alone costs no memory.
func TestMemoryIsSpentOnlyOnBytesThatCame(t *testing.T) {
	claims := []byte{0, 0x0f, 0xff, 0xff}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 1000 {
		_, _ = ReadFrame(bytes.NewReader(claims), MaxFrame)
		d := NewDecoder([]byte{0x7f, 0xff, 0xff, 0xff})
		d.Strings()
		d = NewDecoder([]byte{0x7f, 0xff, 0xff, 0xff})
		d.ACLs()
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

// FuzzFrames reads any input as a stream of frames, and each frame as every record.
func FuzzFrames(f *testing.F) {
	e := NewFrame(0)
	e.ConnectRequest(ConnectRequest{Password: make([]byte, 16), HasReadOnly: true})
	f.Add(e.Frame())
	e = NewFrame(0)
	e.Int32(1)
	e.Int32(1)
	e.String("/a")
	e.Buffer(nil)
	e.ACLs([]ACL{{31, ID{"world", "anyone"}}})
	e.Int32(0)
	f.Add(e.Frame())
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := bytes.NewReader(stream)
		for {
			frame, err := ReadFrame(r, MaxFrame)
			if err != nil {
				return
			}
			for _, read := range []func(d *Decoder){
				func(d *Decoder) { d.ConnectRequest() },
				func(d *Decoder) {
					d.Int32()
					d.Int32()
					_ = d.String()
					d.Buffer()
					d.ACLs()
					d.Int32()
				},
				func(d *Decoder) { d.Int64(); d.Strings(); d.Strings(); d.Strings() },
				func(d *Decoder) {
					for !d.MultiHeader().Done && d.Err() == nil {
						_ = d.String()
					}
				},
				func(d *Decoder) { d.Stat() },
			} {
				d := NewDecoder(frame)
				read(d)
				if d.Err() == nil && d.Len() > len(frame) {
					t.Fatal("read less than nothing")
				}
			}
		}
	})
}
