package framework

import (
	"context"
	"time"
)

// An Observer is notified of what a client and its recipes do, for metrics and traces.
// Any of its functions may be nil. An event for which no function is set costs nothing:
// no allocation, and no reading of the clock.
//
// # Order
//
// An Acquire makes these calls one by one; only those of RequestEnded may overlap:
//
//	AcquireStarted   once
//	RequestEnded     for each request
//	AcquireEnded     once, whether granted or failed
//	HoldStarted      once, if it was granted; not if it re-entered a hold
//	HoldEnded        once, when the hold was released or lost
//
// Every AcquireStarted has its AcquireEnded, every HoldStarted its HoldEnded, and every
// CleanupStarted its CleanupEnded, whatever happens at the same time. Those of lost
// holds and of clean-ups come before Client.Close returns. Several observers are called
// one after another, in the order of Config.Observers.
//
// A re-entry, also that of a fork, is an acquire without a hold of its own: the hold
// goes on until the last lease on it is released. The downgrade of a read-write lock
// starts the reader's hold before the writer's ends.
//
// # Contexts
//
// AcquireStarted and HoldStarted get the context given to Acquire, and may return one
// that derives from it and carries more values, such as a span; nil adds nothing. The
// requests of an acquire have the values from AcquireStarted. The lease's context has
// those from HoldStarted, so that a span of the work under the lease has the hold's
// span as parent. Only values are taken from what is returned: cancellation, its cause,
// deadline and ownership are those of the caller's context. AcquireEnded and HoldEnded
// get the context that the same observer returned, which may have ended.
//
// # Functions
//
// Started functions and AcquireEnded run on the goroutine that does what they report,
// often one of the program, and so does RequestEnded, except for what recipes send
// without waiting for it; the other functions on one of the client, except that
// HoldEnded runs on the goroutine that calls Release if that ends the hold.
// All of them must be safe for concurrent use, must return at once, and must not panic,
// call Close, or wait for an operation of the client.
type Observer struct {
	// StateChanged is called for every transition of the client, in order.
	StateChanged func(StateChange)
	// RequestEnded is called after every request of the client's operations, with the
	// context of the operation. Each attempt of a request that is repeated counts.
	RequestEnded func(ctx context.Context, r Request)
	// CleanupStarted is called when the removal of a znode is left to the background.
	// What has started and not ended is pending.
	CleanupStarted func(path string)
	// CleanupEnded is called when that has ended, with nil if the znode is confirmed to
	// be gone.
	CleanupEnded func(path string, err error)

	// AcquireStarted is called when an Acquire starts.
	AcquireStarted func(ctx context.Context, a AcquireInfo) context.Context
	// AcquireEnded is called when it has succeeded or failed.
	AcquireEnded func(ctx context.Context, e AcquireEnd)
	// HoldStarted is called when an acquire was granted, before Acquire returns.
	HoldStarted func(ctx context.Context, h HoldInfo) context.Context
	// HoldEnded is called when a hold is over. The end of the caller's context does not
	// end it. After a Release it is called when that returns; the next hold of the same
	// client may start before. After a ReleaseAsync it is called when the answer has
	// come or is given up, mostly on a goroutine of the client.
	HoldEnded func(ctx context.Context, e HoldEnd)
}

// A Request describes one request that has ended.
type Request struct {
	// Op and Path are the operation and the path with chroot and namespace.
	Op, Path string
	// Session is the id of the session it was sent in; 0 if it was not sent.
	Session int64
	// Attempt counts how often the operation has sent the request: more than 1 is a
	// retry.
	Attempt int
	// Duration is how long it took, from when it was made until the caller had the
	// answer.
	Duration time.Duration
	// Err is nil or its failure, an *OpError: OutcomeOf says whether it may have had an
	// effect.
	Err error
}

// An AcquireInfo describes a call of a recipe's Acquire.
type AcquireInfo struct {
	// Recipe is what is acquired: "mutex", "reader", "writer", "semaphore" or "leader",
	// as in lease.Contender.
	Recipe string
	// Path is that of the recipe, with chroot and namespace.
	Path string
	// Lock is the path of the lock itself, where a recipe has several: of a stripe, or
	// of a run. Otherwise, and for any of the stripes, it is Path.
	Lock string
	// Permits is how many are acquired: more than 1 only of a semaphore.
	Permits int
	// Timeout is the one given to Acquire.
	Timeout time.Duration
}

// An AcquireEnd describes how an Acquire has ended.
type AcquireEnd struct {
	AcquireInfo
	// Waited is how long it took, requests included.
	Waited time.Duration
	// HandOver is the last part of Waited, measured in this process: from the event
	// that notified of the last change that was waited for, such as the end of the hold
	// before, to the grant. It is 0 if the acquire did not wait for others, re-entered,
	// or failed.
	HandOver time.Duration
	// Ahead is how many contenders were ahead of it at most, of those that its client
	// has seen: as a rule its position in the queue when it joined. At a semaphore each
	// permit that is held counts; with a single queue each lease. It is -1 if the
	// client has not seen the queue, such as after a re-entry, or without a server.
	Ahead int
	// Reentered is true if the context owned a hold already, and Acquire entered it.
	Reentered bool
	// Err is what Acquire returns: nil, or for example a lease.ErrTimeout.
	Err error
}

// A HoldInfo describes what an acquire was granted: the lock, permits or a term.
type HoldInfo struct {
	// Recipe is what is held, as in Acquire.
	Recipe string
	// Path is that of the recipe, Lock that of the lock itself, as in Acquire, and Node
	// that of the znode, with chroot and namespace.
	Path, Lock, Node string
	// Permits is how many are held: more than 1 only of a semaphore.
	Permits int
	// Session is the id of the session that owns the znode.
	Session int64
	// Token is the fencing token.
	Token int64
}

// A HoldEnd describes how a hold has ended.
type HoldEnd struct {
	HoldInfo
	// Held is how long it lasted, without the removal of its znode.
	Held time.Duration
	// Err is nil if it was released, and a lease.LossError if it was lost. For a metric
	// label test it with errors.Is for the reasons that lease.LossError.Reason lists.
	// Another error is what Release returned: the znode could not be removed.
	Err error
}
