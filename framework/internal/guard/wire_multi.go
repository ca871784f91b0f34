package guard

import "github.com/zkrecipes/zkrecipes/internal/jute"

// Each operation of a multi, and each of its results, begins with a type, an end mark
// and an error code.
const (
	multiHeader = 4 + 1 + 4
	typeError   = -1 // of a result: this or another operation failed; also of the end
	notTried    = -2 // the code of operations behind the one that failed
	anyVersion  = -1
)

// checkOverhead is the greatest size of a multi without its operations.
const checkOverhead = 64

// checkBytes is the size of the check of a node in a multi.
func checkBytes(path string) int { return multiHeader + 4 + len(path) + 4 }

// checkRequest returns the frame of a multi that only checks that these nodes exist.
func checkRequest(xid int32, nodes []*reliedNode) []byte {
	e := newRequest(xid, OpMulti)
	for _, n := range nodes {
		e.MultiHeader(jute.MultiHeader{Type: OpCheck, Err: -1})
		e.String(n.path)
		e.Int32(anyVersion)
	}
	e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1})
	return e.Frame()
}

// A multiEnd is how a multi ended. The header of the answer does not show it: it always
// says success.
type multiEnd struct {
	committed bool
	failed    int   // which operation failed
	code      int32 // its error; 0 if that is not known
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
	return multiEnd{} // an empty multi proves nothing: the server did not look for the session
}
