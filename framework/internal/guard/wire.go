package guard

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The part of the protocol that the guard reads. Every message is a frame: a 4-byte
// length, then the body. The first frame in each direction is the connect request or
// its reply. After that a request body begins with xid and operation code, and a reply
// body with xid, zxid and error code. All integers are big-endian.
const (
	frameHeader = 4
	replyHeader = 16 // xid, zxid, error code

	codeUnimplemented = -6
	codeNoWatcher     = -121

	codeAuthFailed = -115

	codeNoNode  = -101
	codeNoAuth  = -102
	codeExpired = -112
	codeMoved   = -118

	xidEvent = -1
	xidPing  = -2
	// xidClose marks the guard's own close request. Servers do not interpret it, and
	// the library numbers its requests from 1 up.
	xidClose = -3
	// xidFirst marks what is sent first over a connection, other than transactions.
	xidFirst = -4
	// xidVouch is the number of the guard's first transaction; each next one is one
	// lower. No number of a request that may still be under way is used again, also not
	// on another connection: a server would take the commit of the earlier request for
	// that of the present one.
	xidVouch = -5
)

// The operation codes of the protocol.
const (
	OpCreate        = 1
	OpDelete        = 2
	OpExists        = 3
	OpGetData       = 4
	OpSetData       = 5
	OpGetACL        = 6
	OpSetACL        = 7
	OpSync          = 9
	OpPing          = 11
	OpGetChildren2  = 12 // with the Stat
	OpCheck         = 13
	OpMulti         = 14
	OpRemoveWatches = 18
	OpContainer     = 19
	OpCreateTTL     = 21
	OpSetAuth       = 100
	OpSetWatches    = 101
	OpClose         = -11
)

// byQuorum holds the requests that are transactions: a server answers success only
// after a quorum has acknowledged them.
var byQuorum = map[int32]bool{
	OpCreate: true, OpContainer: true, OpCreateTTL: true, OpDelete: true,
	OpSetData: true, OpSetACL: true, OpMulti: true,
}

// byLeader reports whether only the leader can answer.
func byLeader(op int32) bool { return op == OpSync || byQuorum[op] }

var errShortFrame = errors.New("malformed frame")

func be32(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) }
func be64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// A message is a frame under construction. It begins with space for its length.
type message []byte

func newMessage(xid, op int32) message {
	return make(message, frameHeader, 128).numbers(xid, op)
}

func (m message) numbers(all ...int32) message {
	for _, n := range all {
		m = binary.BigEndian.AppendUint32(m, uint32(n))
	}
	return m
}

func (m message) text(s string) message { return append(m.numbers(int32(len(s))), s...) }

// done fills in the length and returns the frame.
func (m message) done() []byte {
	binary.BigEndian.PutUint32(m, uint32(len(m)-frameHeader))
	return m
}

// connectReply is the server's answer to a connect request.
type connectReply struct {
	timeoutMillis int32
	session       int64 // 0: the session asked for has expired
	password      []byte
}

func parseConnectReply(body []byte) (connectReply, error) {
	r := answerReader{rest: body}
	numbers, password := r.skip(4+4+8, "version, timeout and id"), r.text()
	if r.fault != nil {
		return connectReply{}, errShortFrame
	}
	return connectReply{timeoutMillis: be32(numbers[4:]), session: be64(numbers[8:]), password: slices.Clone(password)}, nil
}

// connectRequest returns the frame that asks to re-attach a session.
func connectRequest(session int64, password []byte, timeoutMillis int32, zxid int64) []byte {
	f := newMessage(0, int32(zxid>>32)).numbers(int32(zxid), timeoutMillis) // protocol version 0
	return f.numbers(int32(session>>32), int32(session)).text(string(password)).done()
}

// withZxid returns the library's connect request with zxid as the newest that was seen,
// unless the request already has a greater one.
func withZxid(frame []byte, zxid int64) []byte {
	const at = frameHeader + 4
	if len(frame) < at+8 || be64(frame[at:]) >= zxid {
		return frame
	}
	frame = slices.Clone(frame) // the buffer belongs to the library
	binary.BigEndian.PutUint64(frame[at:], uint64(zxid))
	return frame
}
