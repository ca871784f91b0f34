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
	// Holding tells whether it holds the place, or else waits.
	Holding bool
	// Node is the name of its znode, Path its path.
	Node, Path string
	// Token is the fencing token that it has, or will have when its turn comes. It is 0
	// for one that waits for a semaphore, and for the reader that a writer has become
	// it is that of its znode, which no lease has.
	Token Token
	// Session is the id of the session that owns it.
	Session int64
	// Holder is what it says about itself.
	Holder Holder
	// Enqueued is when it joined, by the server's clock.
	Enqueued time.Time
}

// String returns the contender in one line, as Holder.String does.
func (c Contender) String() string {
	who := cmp.Or(c.Holder.String(), quote.Brief(c.Node))
	return fmt.Sprintf("token %d  session 0x%x  %s", c.Token, uint64(c.Session), strings.TrimSpace(who))
}
