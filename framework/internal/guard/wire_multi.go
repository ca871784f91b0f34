package guard

// Each operation of a multi begins with its type, whether it is the end, and an error
// code, and so does each of its results.
const (
	multiHeader = 4 + 1 + 4
	typeError   = -1 // of a result: it or another operation failed. Also of the end
	notTried    = -2 // the code behind the one that failed
	anyVersion  = -1
)

// checkOverhead is a bound on what a multi has but for its operations.
const checkOverhead = 64

// checkBytes is how many bytes the check of a node takes in a multi.
func checkBytes(path string) int { return multiHeader + 4 + len(path) + 4 }

// checkRequest returns the frame of a multi that does nothing but check that these
// nodes exist.
func checkRequest(xid int32, nodes []*reliedNode) []byte {
	f := newMessage(xid, opMulti)
	for _, n := range nodes {
		f = append(f.numbers(opCheck), 0).numbers(-1).text(n.path).numbers(anyVersion)
	}
	return append(f.numbers(-1), 1).numbers(-1).done()
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
