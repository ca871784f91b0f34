package guard

import "encoding/binary"

// Each operation of a multi begins with its type, whether it is the end, and an error
// code, and so does each of its results.
const (
	multiHeader = 4 + 1 + 4
	typeError   = -1         // of a result: it or another operation failed. Also of the end
	notTried    = -2         // the code behind the one that failed
	anyVersion  = 0xffffffff // -1
)

// checkOverhead is a bound on what a multi has but for its operations.
const checkOverhead = 64

// checkBytes is how many bytes the check of a node takes in a multi.
func checkBytes(path string) int { return multiHeader + 4 + len(path) + 4 }

// checkRequest returns the frame of a multi that does nothing but check that nodes exist.
func checkRequest(xid int32, paths []string) []byte {
	b := make([]byte, frameHeader, 128)
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	b = binary.BigEndian.AppendUint32(b, opMulti)
	for _, path := range paths {
		b = binary.BigEndian.AppendUint32(b, opCheck)
		b = append(b, 0)
		b = binary.BigEndian.AppendUint32(b, anyVersion)
		b = binary.BigEndian.AppendUint32(b, uint32(len(path)))
		b = append(b, path...)
		b = binary.BigEndian.AppendUint32(b, anyVersion)
	}
	b = append(b, 0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff)
	binary.BigEndian.PutUint32(b, uint32(len(b)-frameHeader))
	return b
}

// A multiEnd is how a multi ended of which the header of the answer says that all is
// well, as it always does.
type multiEnd struct {
	committed bool
	failed    int   // which operation failed
	code      int32 // and why; 0 if that is not known
}

// parseMultiEnd reads the beginning of the results of a multi.
func parseMultiEnd(body []byte) multiEnd {
	if len(body) < multiHeader {
		return multiEnd{}
	}
	if be32(body) != typeError {
		return multiEnd{committed: true}
	}
	const result = multiHeader + 4 // of an operation of a multi that failed
	for i := 0; len(body) >= result && body[4] == 0; i++ {
		if code := be32(body[multiHeader:]); code != 0 && code != notTried {
			return multiEnd{failed: i, code: code}
		}
		body = body[result:]
	}
	return multiEnd{} // it was empty, which proves nothing: nobody looked for the session
}
