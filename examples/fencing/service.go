package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

const (
	// tokenHeader has the fencing token of a request.
	tokenHeader = "Fencing-Token"
	maxBody     = 1 << 20
)

// A fence stands before the handler of a service whose resources are protected by a
// lock that its clients hold. It refuses a request with a smaller token than the
// greatest it has seen for that resource, reads included: from the read of a new holder
// on nothing of an older one is let through. A GET without a token is for those who do
// not hold the lock, and changes nothing.
//
// A resource is a path here. If one lock protects several paths, give them one key in
// newest: else the read of one leaves the others open to late writes. The handler must
// be done with its work when it returns, also if the request is cancelled. And set
// WriteTimeout of the http.Server: a client that stands still in the middle of a long
// answer keeps the others waiting.
//
// It keeps the tokens in memory. A service with several instances, or one that must not
// forget them when it is restarted, keeps them where the resource is, in the same
// transaction: see examples/sql.
type fence struct {
	next http.Handler

	mu     sync.Mutex
	newest map[string]lease.Token // of each resource
}

func newFence(next http.Handler) *fence {
	return &fence{next: next, newest: map[string]lease.Token{}}
}

func (f *fence) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := r.Header.Get(tokenHeader)
	if text == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		f.next.ServeHTTP(w, r)
		return
	}
	if text == "" {
		http.Error(w, tokenHeader+" is missing", http.StatusPreconditionRequired)
		return
	}
	token, err := strconv.ParseInt(text, 10, 64)
	if err != nil || token <= 0 { // that of a multi-lock's lease is 0: each of its locks has one
		http.Error(w, tokenHeader+" is not a token", http.StatusBadRequest)
		return
	}
	// Before the lock: a client that is slow must not keep the others waiting.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))

	// The comparison and what the handler does are one step: else an older request that
	// has passed could still write behind a newer one.
	f.mu.Lock()
	defer f.mu.Unlock()
	if newest := f.newest[r.URL.Path]; lease.Token(token) < newest {
		http.Error(w, fmt.Sprintf("token %d is older than %v", token, newest), http.StatusPreconditionFailed)
		return
	}
	f.newest[r.URL.Path] = lease.Token(token)
	f.next.ServeHTTP(w, r)
}
