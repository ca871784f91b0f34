package proxy

import (
	"slices"
	"strings"
)

// The requests that can be cut, by their number in the protocol. OpConnect is the first
// message of a connection, which makes or continues a session.
const (
	OpConnect         int32 = -10
	OpClose           int32 = -11
	OpCreate          int32 = 1
	OpDelete          int32 = 2
	OpExists          int32 = 3
	OpGetData         int32 = 4
	OpSetData         int32 = 5
	OpGetACL          int32 = 6
	OpSetACL          int32 = 7
	OpGetChildren     int32 = 8
	OpSync            int32 = 9
	OpPing            int32 = 11
	OpGetChildren2    int32 = 12
	OpCheck           int32 = 13
	OpMulti           int32 = 14
	OpCreate2         int32 = 15
	OpRemoveWatches   int32 = 18
	OpCreateContainer int32 = 19
	OpCreateTTL       int32 = 21
	OpAuth            int32 = 100
	OpSetWatches      int32 = 101
	OpAddWatch        int32 = 106

	// AnyOp is any request at all. With the path prefix "/" it is any request that
	// names a path.
	AnyOp int32 = -1

	opMultiRead   int32 = 22
	opSASL        int32 = 102
	opSetWatches2 int32 = 105
	opWhoAmI      int32 = 107
)

// A hook cuts the connection that carries a certain request.
type hook struct {
	op     int32
	prefix string
	left   int  // matching requests until the one to cut
	after  bool // forward the request and cut instead of its reply
	refuse bool // refuse new connections from then on
	fired  chan struct{}
}

// A HookOption selects the request more exactly.
type HookOption func(*hook)

// Nth means the request that is the nth to match, counted from 1 and over all
// connections.
func Nth(n int) HookOption { return func(h *hook) { h.left = n } }

// ThenRefuse makes the cut refuse new connections too, as Refuse(true) does, before the
// client can notice it.
func ThenRefuse() HookOption { return func(h *hook) { h.refuse = true } }

// CutBefore cuts the connection that carries the next request op for a path that begins
// with pathPrefix, instead of forwarding the request: the server never sees it. It
// happens once; the channel is closed when it has. The path of a transaction is that of
// its first operation.
func (p *Proxy) CutBefore(op int32, pathPrefix string, options ...HookOption) <-chan struct{} {
	return p.hook(&hook{op: op, prefix: pathPrefix}, options)
}

// CutAfter forwards the request, and cuts the connection instead of forwarding the
// server's reply: the request has taken effect, or was refused, and the client does not
// know. If the connection ends before the reply for another reason, no cut happens.
func (p *Proxy) CutAfter(op int32, pathPrefix string, options ...HookOption) <-chan struct{} {
	return p.hook(&hook{op: op, prefix: pathPrefix, after: true}, options)
}

func (p *Proxy) hook(h *hook, options []HookOption) <-chan struct{} {
	h.left, h.fired = 1, make(chan struct{})
	for _, o := range options {
		o(h)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hooks = append(p.hooks, h)
	return h.fired
}

// match returns the hook whose request r is and removes it. Every hook counts r.
func (p *Proxy) match(r request) *hook {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *hook
	p.hooks = slices.DeleteFunc(p.hooks, func(h *hook) bool {
		if h.op != AnyOp && h.op != r.op || !strings.HasPrefix(r.path, h.prefix) {
			return false
		}
		h.left--
		if h.left > 0 || found != nil {
			return false
		}
		found = h
		return true
	})
	return found
}
