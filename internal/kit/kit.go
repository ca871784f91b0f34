// Package kit is what recipes may do with a client beyond the framework's public API:
// views that repeat nothing, nodes made together, work that relies on a session, and
// what Close ends before the session. It changes with the recipes. What turns out to be
// of use to others can become public later; the reverse is not possible.
package kit

import (
	"context"
	"io"
	"log/slog"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
)

// Of returns what recipes may do with a client. It keeps the view: its namespace, and
// the session that it is pinned to. It allocates nothing, and panics for a zero or nil
// client.
func Of(client *framework.Client) Kit { return bridge.Recipe(client).(Kit) }

// Usable returns a framework.ErrInvalidArgument for a zero or nil client.
func Usable(client *framework.Client) error { return bridge.Usable(client) }

// SetRandom takes the random part of the names of a client's protected nodes from
// random, which must be safe for concurrent use, and not from crypto/rand. It is for
// tests that have to repeat: names that repeat in one ensemble make clients take each
// other's nodes for their own.
func SetRandom(cfg *framework.Config, random io.Reader) { bridge.SetRandom(cfg, random) }

// A Kit is one view of a client, as recipes see it. Its methods are safe for concurrent
// use.
type Kit interface {
	// Within returns a view of the client that is pinned to a session, for what a
	// recipe does itself in that. Operations in other views that follow a grant in a
	// further session first wait until the main session has caught up with it: so the
	// holder sees all that was done before.
	Within(s *framework.Session) *framework.Client

	// Once returns a view of the client that repeats nothing: what fails is not tried
	// again, nor are reads whose answer is dropped.
	Once() *framework.Client

	// Reporting returns a view of the client that calls a function with the error of
	// each attempt that will be repeated.
	Reporting(failed func(err error)) *framework.Client

	// SameClient reports whether other is a view of the same client, so that equal full
	// paths name the same znode.
	SameClient(other *framework.Client) bool

	// StopOnSuspend reports the setting of that name.
	StopOnSuspend() bool

	// MaxReplyBytes returns the setting of that name.
	MaxReplyBytes() int

	// Logger returns the one of the configuration.
	Logger() *slog.Logger

	// CreateSent is CreateProtected, and calls sent when the request has its place
	// among those of the connection: for every attempt, and one after the other. It
	// runs under a lock: it must not block, call an operation, nor send anything. Right
	// after it behind is called, under no lock, to send more. It must not wait either.
	// Both are called on the goroutine of the caller, or on one of the client if others
	// were under way; then they may also be called when CreateSent has returned because
	// ctx has ended.
	//
	// What is sent in the same session after sent was called comes behind the create,
	// over the same connection. Else that connection has ended, and with it the
	// attempt: it has failed, or its outcome is unknown. So a listing that is sent then
	// shows the node if the attempt was carried out.
	CreateSent(ctx context.Context, path string, data []byte, mode framework.Mode, sent, behind func()) (framework.Created, error)

	// SendChildren sends what Children sends, in the session that the view is pinned
	// to, and does not wait for anything: answered gets the answer, or an error if
	// there is none. It reports false if the request cannot be sent now, because there
	// is no connection or too many requests are under way; then answered is not called.
	// It repeats nothing.
	//
	// Answers come under no lock, in the order of the server and of its events, on the
	// goroutine that reads from the connection, or on one of the client that closes it;
	// an error also where others are told that it has just broken. answered must not
	// block nor call an operation. It may send more, and call s.Go. It may be called
	// before SendChildren returns.
	SendChildren(path string, answered func(children []string, err error)) bool

	// SendGet is to GetNotify what SendChildren is to Children.
	SendGet(path string, notify func(framework.Event), answered func(data []byte, stat framework.Stat, stop func(), err error)) bool

	// GetKnown is Get, and sends nothing if the session that the view is pinned to has
	// read the data before, with a watch that has not fired. So the data, and what the
	// Stat says of them, are not older than anything that the session has learned: an
	// event comes before all that shows a later state. The caller must not change them.
	// The watch is removed when they were not asked for during a session timeout.
	GetKnown(ctx context.Context, path string) ([]byte, framework.Stat, error)

	// CreateProtectedAll makes n ephemeral sequential nodes, all under one random id,
	// and carries out the other operations in the same transaction, which happens as a
	// whole or not at all, and if it does exactly once. Otherwise it is like
	// CreateProtected. The nodes are returned in the order of their numbers; they have
	// the same czxid. ErrNoNode also means that another client deleted one of them
	// before the call had returned; the others are then removed. behind, if it is
	// not nil, is that of CreateSent.
	CreateProtectedAll(ctx context.Context, path string, data []byte, n int, behind func(), others ...framework.Op) ([]framework.Created, error)

	// CreateEach makes an ephemeral sequential node at each path, in one transaction,
	// with the data of the same index. They have the same czxid. If it fails none of
	// them remains: it makes one attempt, and after an unknown outcome they are
	// searched for and removed in the background. behind is that of CreateSent.
	CreateEach(ctx context.Context, paths []string, data [][]byte, behind func()) ([]framework.Created, error)

	// WithParents carries out the creation of a node below path, and makes that and
	// what is missing above it, as CreateParents does. While create returns an
	// ErrNoNode it is called again. If the client has not used path lately, a create of
	// that may be sent before create is called. This needs no round trip of its own if
	// the session is the same, and does no harm if path exists.
	WithParents(ctx context.Context, path string, create func() error) error

	// RecordParent records for WithParents whether a node exists, as a read has shown.
	RecordParent(path string, exists bool)

	// DeleteInBackground is DeleteGuaranteed without waiting for anything.
	DeleteInBackground(path string)

	// Gone records that a node of the session that the view is pinned to is deleted, as
	// a listing has shown: then there is room for another.
	Gone(path string)

	// Release is DeleteGuaranteed for a node whose slot is over, in the session that
	// the view is pinned to, or the present one. As soon as the delete has its place
	// among the requests of the connection, the listeners of OnDeleted are told so, and
	// then it waits for the answer. Whatever the session sends from then on is carried
	// out behind the delete: if the connection breaks first, the delete is sent again
	// on the next one, before anything else. The exception is a server that is
	// overloaded and refuses the delete alone (ErrThrottled): then it is repeated.
	//
	// At most 64 releases of a session are unconfirmed at a time. One more is a plain
	// DeleteGuaranteed, and so is one for which no listener waits. If a break may have
	// made it delete the node twice, Release returns nil, and no ErrNoNode.
	Release(ctx context.Context, path string) error

	// SendDelete sends what DeleteGuaranteed sends, or Release if the node's slot is
	// over, in the session that the view is pinned to, and does not wait for anything.
	// answered gets the error that DeleteGuaranteed would return, where answers come,
	// as that of SendChildren, or on the goroutine of a caller if the connection has
	// just broken; without an answer it goes on in the background. ctx is for
	// observers, and bounds nothing. SendDelete reports false if the delete cannot
	// be sent now, because there is no connection, too many requests are under way, or
	// it has to wait for writes in another session. Then nothing was done, and answered
	// is not called: the caller has to call DeleteGuaranteed or Release.
	SendDelete(ctx context.Context, path string, over bool, answered func(err error)) bool

	// AwaitReleased returns nil when the nodes of all releases of children of a node
	// that were unconfirmed at the call are known to be deleted. If the server has
	// refused to delete one, and it is not known to be deleted since, it returns why.
	// If the session of the view is over before, it returns why; if ctx ends, the cause
	// of that.
	AwaitReleased(ctx context.Context, parent string) error

	// CheckExists is a CheckOp with AnyVersion for a path of this view, on whichever
	// view of the client the Multi is run. If unless, which may be nil, returns an
	// error, the Multi fails by this operation with that error, as if a server had
	// refused it, and is not sent. Each attempt of a Multi calls it just before it
	// sends, also that of another client of this process. It must not block, nor call
	// the client or its session.
	CheckExists(path string, unless func() error) framework.Op

	// AllOf returns one operation that carries out all of these, in their order, and
	// fails with the first of them that fails.
	AllOf(ops ...framework.Op) framework.Op

	// Rely says that work relies on nodes of the present session, or of that which the
	// view is pinned to, as the work of a lock's holder does on its znode. From now
	// until Reliance.End the session is trusted only as far as a quorum of the ensemble
	// vouches for it: a leader without a quorum, and need not know it, answers
	// everything but transactions. While nothing else commits one, the client makes one
	// every quarter of the session timeout and after every attachment, which checks
	// that the nodes exist. It needs the permission to read them.
	//
	// If the newest transaction is older than half the timeout, one is made first and
	// waited for. If it was older than five sixths of it when the present connection
	// was made, that takes until about a third of the timeout after that. The error is
	// then that of the transaction: an ErrNoNode if a node does not exist, ErrNoAuth if
	// it may not be read. Rely also fails when ctx ends, with its cause, and when the
	// session is over, with an ErrSessionLost. Recipes call it on a view that is pinned
	// to the session that has made the nodes.
	Rely(ctx context.Context, node string, also ...string) (Reliance, error)

	// GoHolding is s.Go for the goroutine that looks after what is held in a session of
	// the client, such as the nodes of leases: Client.Close calls end before it closes
	// the session, which would free what is held, and waits for f to return for as long
	// as Config.CloseGrace. If Close has begun, end is called before GoHolding returns.
	// It must not block.
	GoHolding(s *framework.Session, end func(), f func(ctx context.Context)) bool

	// Kept returns the value that a session of the client, or with nil the client,
	// keeps under a key, which make returns if there is none. It lasts as long as that
	// is in memory. make must not call Kept.
	Kept(s *framework.Session, key any, make func() any) any

	// OnDeleted tells a listener, until stop, of which children of a node a session of
	// the client learns that they are deleted: by the answer to a delete, which has
	// deleted one or found none, or by the event of a watch. Events come on the
	// goroutine that reads from the connection, in the order of the server; answers on
	// others, after the events that the server sent before them.
	//
	// Waits and Over are called on the goroutine of Release: Waits once, before
	// anything is sent, and Over for every attempt that is. Over never begins when the
	// node is known to be deleted; but Deleted may be called while it runs. If the
	// server refuses the delete, that is told last, also where answers come. The
	// methods must not block, nor call the client or its session.
	OnDeleted(s *framework.Session, parent string, listener DeletionListener) (stop func())

	// GetNotify is GetWatch with a function in place of a channel. It gets the event of
	// the watch, in a single call; the context bounds the read only, and stop ends the
	// watch. The call may come before GetNotify returns. After stop, or if GetNotify
	// fails, none begins, but one that has begun may go on.
	//
	// Events of the server come on the goroutine that reads from the connection, in
	// their order. That the session is over comes on the goroutine that finds it out,
	// which may be any that uses the session or its client, with whatever locks it has.
	// notify must not block, nor call the client or its session.
	GetNotify(ctx context.Context, path string, notify func(framework.Event)) (data []byte, stat framework.Stat, stop func(), err error)

	// ExistsNotify is ExistsWatch in the same way.
	ExistsNotify(ctx context.Context, path string, notify func(framework.Event)) (exists bool, stat framework.Stat, stop func(), err error)

	// AwaitRoom waits for a session with room for the nodes of another contender at a
	// path, which are in some of these folders: "" is the path itself. It is a session
	// where others contend at that path, if there is room, else the oldest with room,
	// else a further one, which is opened. Those in full turned out to have no room. A
	// pinned view has only its own session.
	// Errors: those of AwaitSession, and ErrTooManyEphemerals if there can be no
	// further session. It is an ErrNotConnected, too, if none could be opened within a
	// session timeout.
	AwaitRoom(ctx context.Context, path string, folders []string, nodes int, full []*framework.Session) (*framework.Session, error)

	// HasRoom reports whether a session that AwaitRoom has chosen still has room for a
	// contender: others may have been faster. For several it reports whether they can
	// all be in that session.
	HasRoom(s *framework.Session, paths ...string) bool

	// HasGrantedInFurther reports whether the client has had leases in further
	// sessions: then one may lag behind what the client has done in another.
	HasGrantedInFurther() bool

	// OnClose has a listener told when Close begins, or at once if it has, for what
	// must not go on while leases are ended.
	OnClose(l *CloseListener)

	// OffClose must be called once when that is over: the listener is forgotten, but a
	// call of it that has begun may go on.
	OffClose(l *CloseListener)

	// OpenEntries reads the ACL of a node and returns the entries that permit any of
	// perms to a client without credentials: to anyone, or to all from some address.
	// Identities that are in the list by name, of whatever scheme, are there on
	// purpose. Errors: ErrNoNode, ErrNoAuth. WarnIfOpen does not look again at a node
	// that OpenEntries read in the same session.
	OpenEntries(ctx context.Context, node string, perms int32) ([]framework.ACL, error)

	// WarnIfOpen logs a warning if a node has such entries although Config.Auth has
	// credentials, which were meant to protect it. Recipes call it for the nodes under
	// which they contend. It returns at once: the ACL is read in the background, once
	// per node and session, for the first thousand nodes. Without credentials it sends
	// nothing. A read that fails is no error, and is made again at the next call unless
	// it was refused.
	WarnIfOpen(node string, perms int32)

	// AcquireStarted notifies the observers of a call of Acquire. It returns ctx with
	// the values that they add, for the requests, and the function that notifies them
	// of the end, which fills in what it knows from here; nil if there are no
	// observers. a.Path is that of the view.
	AcquireStarted(ctx context.Context, a framework.AcquireInfo) (context.Context, func(framework.AcquireEnd))

	// HoldStarted does the same for a hold. h.Path and h.Node are those of the view.
	HoldStarted(ctx context.Context, h framework.HoldInfo) (context.Context, func(framework.HoldEnd))
}

// A Reliance says that work relies on nodes of a session: see Kit.Rely.
type Reliance = bridge.Reliance

// A CloseListener is told when Close begins: see Kit.OnClose.
type CloseListener = bridge.CloseListener

// A DeletionListener is told of deletions: see Kit.OnDeleted.
type DeletionListener = bridge.DeletionListener
