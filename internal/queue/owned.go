package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// Owned is what the context of an acquire owns when its node is created: what is not
// released before the acquire has ended. It is a part of the node's data.
type Owned struct {
	// Holds are the znodes, with chroot and namespace, the innermost first.
	Holds []string `json:"holds,omitempty"`
	// Within are sessions, as "0x1a", all of whose holds it owns.
	Within []string `json:"within,omitempty"`
	// GivesUp says that it may leave the queue for another one, or after a limited
	// time: see Moving and hold.GivesUp.
	GivesUp bool `json:"gives_up,omitempty"`
}

func (o Owned) isZero() bool { return len(o.Holds) == 0 && len(o.Within) == 0 && !o.GivesUp }

// maxOwned bounds the texts of each list of an Owned, in bytes, for all nodes of one
// request: the data of a node must not grow without bound.
const maxOwned = 4096

type withinKey struct{}

// Within returns a context that owns whatever these sessions hold, for the data of
// nodes: those of commands that this process is a part of. It re-enters nothing.
func Within(ctx context.Context, sessions []int64) context.Context {
	if len(sessions) == 0 {
		return ctx
	}
	texts := make([]string, len(sessions))
	for i, id := range sessions {
		texts[i] = fmt.Sprintf("0x%x", uint64(id))
	}
	return context.WithValue(ctx, withinKey{}, texts)
}

type movingKey struct{}

// Moving returns a context for positions each of which may be given up for another one
// elsewhere.
func Moving(ctx context.Context) context.Context { return context.WithValue(ctx, movingKey{}, true) }

type nodesKey struct{}

// ForNodes returns a context for the data of n nodes that one request makes: together
// they say no more than one alone, or the request may become too large.
func ForNodes(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, nodesKey{}, n)
}

func ownedBy(ctx context.Context) (o Owned) {
	moves, _ := ctx.Value(movingKey{}).(bool)
	o.GivesUp = moves || hold.GivesUp(ctx)
	limit := maxOwned
	if n, several := ctx.Value(nodesKey{}).(int); several {
		limit /= n
	}
	left := limit
	for h := range hold.Owned(ctx) {
		path := h.FullPath()
		if left -= len(path); left < 0 {
			break
		}
		o.Holds = append(o.Holds, path)
	}
	o.Within, _ = ctx.Value(withinKey{}).([]string)
	o.Within = o.Within[max(0, len(o.Within)-limit/len("0xffffffffffffffff")):]
	return o
}

// ParseOwned reads it from a node's data: nothing, if others have written these.
func ParseOwned(data []byte) (holds []string, within []int64, givesUp bool) {
	var o Owned
	if json.Unmarshal(znode.Unmarked(data), &o) != nil {
		return nil, nil, false
	}
	for _, text := range o.Within {
		digits, _ := strings.CutPrefix(text, "0x")
		if id, err := strconv.ParseUint(digits, 16, 64); err == nil {
			within = append(within, int64(id)) //nolint:gosec // servers give ids that are negative as int64
		}
	}
	return o.Holds, within, o.GivesUp
}
