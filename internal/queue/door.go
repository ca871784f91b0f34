package queue

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Door is what the first in line has to pass to get its place, which is then not
// its node in the line but others.
type Door interface {
	// Dir is the parent of the places' nodes.
	Dir() string
	// Inside lists those who have passed.
	Inside(ctx context.Context, c *framework.Client) ([]znode.Name, error)
	// Free finds out, with as little as possible, whether there is room for a
	// newcomer. If not, it returns ErrNotFree and who is inside.
	Free(ctx context.Context, c *framework.Client) (inside []znode.Name, err error)
	// Pass waits until there is room, and then makes the nodes of the place and
	// removes the one in the line, in one transaction. It returns ErrEvicted if the
	// latter has gone, ErrNotFree if the turn does not wait and there is no room,
	// and the cause of ctx. Whatever it fails with, no node of the place stays.
	Pass(ctx context.Context, t Turn) ([]framework.Created, error)
}

// A Turn is the first place in line.
type Turn struct {
	// Client is pinned to the session of the turn.
	Client *framework.Client
	// Node is the path of the node in the line.
	Node string
	// Data is what the nodes of the place say about their holder.
	Data []byte
	// AtOnce is set if the turn does not wait for others.
	AtOnce bool
	// Note tells who is inside, for the error.
	Note func(inside []znode.Name)
	// Heed is told the data of Node whenever that is read: it may ask the holder to
	// give way.
	Heed func(data []byte)
	// Hearsay is closed if the connection has broken since an event told that this
	// is the first place in line. Another server may not have heard of that yet, nor
	// of those who passed before. It is nil if a listing told: such news no server is
	// behind that the session can attach to.
	Hearsay <-chan struct{}
}

// pass takes the place behind the door.
func (w *wait) pass(p *place, grant *hold.Grant) error {
	made, err := w.door.Pass(w.ctx, Turn{
		Client: p.client, Node: p.path, Data: w.queue.data(), AtOnce: w.atOnce, Hearsay: p.hearsay,
		Note: func(inside []znode.Name) { w.note(w.door.Dir(), inside) },
		Heed: func(data []byte) { grant.Asked = grant.Asked || znode.Revoked(data) },
	})
	if err != nil {
		return err
	}
	grant.Asked = grant.Asked || p.asked
	grant.Path, grant.Token = made[0].Path, lease.Token(made[0].Czxid)
	for _, also := range made[1:] {
		grant.Also = append(grant.Also, also.Path)
	}
	return nil
}
