package guard

import (
	"encoding/binary"
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/jute"
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
	OpGetChildren   = 8 // without the Stat
	OpSync          = 9
	OpPing          = 11
	OpGetChildren2  = 12 // with the Stat
	OpCheck         = 13
	OpMulti         = 14
	OpCreate2       = 15 // the type of a result that is a container
	OpRemoveWatches = 18
	OpContainer     = 19
	OpCreateTTL     = 21
	OpMultiRead     = 22
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

func be32(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) }
func be64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// newRequest begins a frame.
func newRequest(xid, op int32) *jute.Encoder {
	e := jute.NewFrame(124)
	e.Int32(xid)
	e.Int32(op)
	return e
}

// closeRequest returns the frame that closes the session.
func closeRequest() []byte { return newRequest(xidClose, OpClose).Frame() }

// connectReply is the server's answer to a connect request.
type connectReply struct {
	timeoutMillis int32
	session       int64 // 0: the session asked for has expired
	password      []byte
}

func parseConnectReply(body []byte) (connectReply, error) {
	d := jute.NewDecoder(body)
	d.Int32() // the version
	r := connectReply{timeoutMillis: d.Int32(), session: d.Int64(), password: slices.Clone(readString(d))}
	return r, d.Err()
}

// connectRequest returns the frame that asks to re-attach a session.
func connectRequest(session int64, password []byte, timeoutMillis int32, zxid int64) []byte {
	e := jute.NewFrame(44)
	e.ConnectRequest(jute.ConnectRequest{LastZxidSeen: zxid, TimeOut: timeoutMillis, SessionID: session, Password: password})
	return e.Frame()
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
