package lease

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
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
	// Token is the fencing token that it has, or will have when its turn comes. It
	// is 0 for one that waits for a semaphore, and for the reader that a writer has
	// become it is that of its znode, which no lease has.
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
	who := c.Holder.String()
	if who == "" {
		who = quote.Brief(c.Node)
	}
	return fmt.Sprintf("token %d  session 0x%x  %s", c.Token, uint64(c.Session), strings.TrimSpace(who))
}

var kinds = map[string]string{
	znode.Mutex: KindMutex, znode.Reader: KindReader, znode.Writer: KindWriter, znode.Latch: KindLeader,
	znode.Permit: KindSemaphore, znode.Permits: KindSemaphore,
}

// Contenders makes the result of a recipe from that of the packages below, for
// recipes only.
func Contenders(found []queue.Contender, err error) ([]Contender, error) {
	if err != nil {
		return nil, err
	}
	list := make([]Contender, len(found))
	for i, c := range found {
		list[i] = Contender{
			Kind: kinds[c.Kind], Holding: c.Holding, Node: c.Node, Path: c.Path, Token: Token(c.Token), Session: c.Session,
			Holder: Holder(c.Holder), Enqueued: c.Enqueued,
		}
	}
	return list, nil
}
