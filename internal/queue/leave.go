package queue

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

// leaveLimit is how long a caller that gives up waits for the deletion of its node to
// be confirmed. The background continues without it.
const leaveLimit = 50 * time.Millisecond

// Leave deletes the node. It does not end with ctx, which is that of the wait.
func (p *Position) Leave(ctx context.Context) {
	p.recordMissing()
	Leave(ctx, p.client, p.path)
	p.Unrecord()
	p.End()
}

// Abandon is Leave that waits for nothing.
func (p *Position) Abandon() {
	p.recordMissing()
	kit.Of(p.client).DeleteInBackground(p.path)
	p.Unrecord()
	p.End()
}

// recordMissing records that the node is deleted if a listing has shown that.
func (p *Position) recordMissing() {
	if p.awaiting != nil && p.missing { // there was no event, as it had no watch
		kit.Of(p.client).Gone(p.path)
	}
}

// Leave deletes nodes of the session that the client is pinned to. It does not end with
// ctx.
func Leave(ctx context.Context, client *framework.Client, node string, also ...string) {
	session := client.Session()
	if session.Err() != nil {
		return
	}
	ctx, cancel := hold.RemovalContext(ctx, session, leaveLimit)
	defer cancel()
	for _, path := range also {
		kit.Of(client).DeleteInBackground(path)
	}
	_ = client.DeleteGuaranteed(ctx, node) // the background deletes what is uncertain
}
