package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// maxBody is the largest body of a request.
const maxBody = 1 << 20

// handler has what every instance serves, until running ends and for the requests
// that are under way then.
func (s *service) handler(running context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { s.readyz(running, w, r) })
	mux.HandleFunc("GET /leader", s.whoLeads)
	mux.HandleFunc("POST /echo", echo)
	return mux
}

// healthz is the liveness probe: the platform restarts an instance where it fails. So
// it fails only where a restart helps. It is healthy not to lead. And if ZooKeeper is
// away that is so for all instances; the client connects again by itself.
func (s *service) healthz(w http.ResponseWriter, _ *http.Request) {
	if s.stuck.Load() {
		http.Error(w, "the leader's work does not stop", http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "healthy\n")
}

// readyz is the readiness probe: the platform sends requests only where it succeeds.
// It depends on what requests need here. That is to know a leader, or that there is
// none, once: not on who leads, nor on ZooKeeper now. A service whose requests need
// ZooKeeper, for a lock perhaps, asks client.Reachable() as well: see examples/web.
func (s *service) readyz(running context.Context, w http.ResponseWriter, _ *http.Request) {
	switch {
	case running.Err() != nil:
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	case s.leader.Load() == nil:
		http.Error(w, "has not reached ZooKeeper yet", http.StatusServiceUnavailable)
	default:
		_, _ = io.WriteString(w, "ready\n")
	}
}

// A leading is the answer of /leader. Its leader is "" while there is none.
type leading struct {
	Leader string      `json:"leader"`
	Token  lease.Token `json:"token"`
}

// whoLeads is for people and for clients that look for the leader. It is no permission
// to do the leader's work: the answer may be old when it is read.
func (s *service) whoLeads(w http.ResponseWriter, _ *http.Request) {
	present := s.leader.Load()
	if present == nil {
		http.Error(w, "not known yet", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(leading{Leader: present.Holder.Who, Token: present.Token})
}

// echo is a request that any instance serves.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = w.Write(body)
}
