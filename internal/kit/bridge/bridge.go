// Package bridge joins the framework to internal/kit. The framework registers here what
// recipes may do beyond its public API; internal/kit, which alone may name the
// framework's types, gives it a type. It imports nothing of ours.
package bridge

import "io"

// Recipe returns what recipes may do with a *framework.Client. The framework sets it
// when it is initialised; the value implements internal/kit.Kit.
var Recipe func(client any) any

// Usable returns an error for a zero or nil *framework.Client.
var Usable func(client any) error

// SetRandom gives a *framework.Config another source for the random part of the names
// of protected nodes than crypto/rand.
var SetRandom func(config any, random io.Reader)

// A Reliance says that work relies on nodes of a session: see internal/kit.Kit.Rely.
type Reliance interface {
	// End says that nothing relies on the nodes any more. It is idempotent.
	End()

	// OnFailure sets the function that is called, once, if a node does not exist any
	// more (ErrNoNode), or may not be read any more (ErrNoAuth), so that it is not
	// known whether it exists. A watch is quicker. It is called at once if that was
	// found before, and not after End. It must not block, nor call the client or its
	// session.
	OnFailure(failed func(error))
}

// A CloseListener is told when a client begins to close: see internal/kit.Kit.OnClose.
type CloseListener struct {
	// Closes says so; cause is ErrClosed. It must not block, nor call the client.
	Closes func(cause error)
	// Index is for the client.
	Index int
}

// A DeletionListener is told what a session knows of the deletions of the children of a
// node: see internal/kit.Kit.OnDeleted.
type DeletionListener interface {
	// Deleted says that a child is deleted.
	Deleted(name string)

	// Waits says that the slot of a child is over, and that its delete will be sent. It
	// reports whether that matters.
	Waits(name string) bool

	// Over says that the delete of such a child has its place among the requests of a
	// connection. broken is what Session.Suspended returns for that connection; nil
	// says that the server refuses the delete for good.
	Over(name string, broken <-chan struct{})
}
