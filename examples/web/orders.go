package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

const (
	// maxBody is the largest body of a request.
	maxBody = 64 << 10
	// retryAfter is for clients that may try again, in seconds.
	retryAfter = "1"
)

// orders serves POST /orders/{id}, which changes an order. One request of all instances
// at a time works on an order.
type orders struct {
	locks *striped.Locks
	db    *database
	wait  time.Duration // for the lock: less than clients and proxies wait for an answer
	log   *slog.Logger
}

func (o *orders) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The body first: net/http notices that a client has gone when that is read, and
	// a slow client does not keep others waiting for the lock.
	line, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id, lines, begun := r.PathValue("id"), 0, false
	err = lease.Do(r.Context(), o.locks.For(id), o.wait, func(ctx context.Context, held *lease.Lease) (err error) {
		begun = true
		lines, err = o.db.add(ctx, id, string(line), held.Token()) // ctx ends if the lock is lost
		return err
	})
	if err != nil {
		o.fail(w, r, id, begun, err)
		return
	}
	fmt.Fprintf(w, "order %s has %d lines\n", id, lines)
}

// fail answers a request that has failed. If it was begun it is not known what became
// of it.
func (o *orders) fail(w http.ResponseWriter, r *http.Request, id string, begun bool, err error) {
	switch {
	case r.Context().Err() != nil: // the client has gone: nobody reads an answer
		o.log.Info("the client has gone", "order", id, "error", err)
	case !begun && (errors.Is(err, lease.ErrTimeout) || errors.Is(err, framework.ErrClosed)):
		// The error says who has the lock, or that no server answers. That is for the
		// log: it names machines.
		o.log.Warn("the order is busy", "order", id, "error", err)
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "the order is busy, try again", http.StatusServiceUnavailable)
	case !begun:
		o.log.Error("the order cannot be locked", "order", id, "error", err)
		http.Error(w, "the order was not changed", http.StatusInternalServerError)
	default:
		// If the lock was lost the change may have been made before that, or not at all.
		// It was not made after another's: the database compares the tokens.
		o.log.Error("the order failed", "order", id, "error", err)
		http.Error(w, "it is not known whether the order was changed: look at it before you try again", http.StatusInternalServerError)
	}
}
