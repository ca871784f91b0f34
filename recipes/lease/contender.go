package lease

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// The kinds of contenders.
const (
	KindMutex     = "mutex"
	KindReader    = "reader"
	KindWriter    = "writer"
	KindSemaphore = "semaphore"
	KindLeader    = "leader"
)

// A Contender is one node in a recipe's queue.
type Contender struct {
	// Kind says what it contends for: KindMutex and so on.
	Kind string
	// Holding says whether it holds the lock, or permits; if not, it waits.
	Holding bool
	// Node is the name of its znode, Path its path.
	Node, Path string
	// Token is its fencing token, also if it still waits. It is 0 for one that waits
	// for a semaphore. For the reader that a writer has become it is not the token of
	// the lease, but that of the znode.
	Token Token
	// Session is the id of the session that owns the znode.
	Session int64
	// Holder is what it says about itself.
	Holder Holder
	// Enqueued is when it joined the queue, by the server's clock.
	Enqueued time.Time
	// Holds are znodes, with chroot and namespace, of the leases that it held when it
	// joined, the innermost first: those that own the context of its Acquire. Of very
	// many the outermost are left out, and so is what a multi-lock would release rather
	// than go on waiting. It is empty in elections, and for other clients.
	Holds []string
	// Within are the sessions of jobs of the command zkrecipes that it is a part of,
	// because their command has started it. It holds whatever they hold.
	Within []int64
	// GivesUp says that, if it waits, it may leave the queue without having been told
	// to: a multi-lock that has some of its locks then releases them, and begins again;
	// an AcquireAny of package striped goes to another share.
	GivesUp bool
}

// String returns the contender in one line, escaped like Holder.String.
func (c Contender) String() string {
	who := cmp.Or(c.Holder.String(), quote.Brief(c.Node))
	return fmt.Sprintf("token %d  session 0x%x  %s", c.Token, uint64(c.Session), strings.TrimSpace(who))
}
