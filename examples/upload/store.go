package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A store plays the object store. It refuses a write with an older token than the
// newest one it has seen for that object.
type store struct {
	mu      sync.Mutex
	objects map[string]*object
	ignore  bool // the tokens, for a test of what happens then
}

// An object is one of them, with what came for it.
type object struct {
	newest lease.Token
	parts  map[int][]byte
	whole  []byte // nil until it is finished

	begins   int // by how many uploaders
	requests int // with a part
	stored   int // parts, again those that took the place of one
	finishes int // how often it was made of its parts
	refused  int // writes
}

func newStore() *store { return &store{objects: map[string]*object{}} }

// ServeHTTP takes the requests of a bucket.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, part, isPart := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	token, err := strconv.ParseInt(r.Header.Get(tokenHeader), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.object(name)
	if isPart {
		o.requests++
	}
	if lease.Token(token) < o.newest && !s.ignore {
		o.refused++
		http.Error(w, fmt.Sprintf("token %d is older than %v", token, o.newest), http.StatusPreconditionFailed)
		return
	}
	o.newest = max(o.newest, lease.Token(token))
	switch {
	case r.Method == http.MethodPost:
		o.begins++
		err = json.NewEncoder(w).Encode(o.found())
	case isPart:
		err = o.put(part, body)
	default:
		err = o.finish(string(body))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
}

func (s *store) object(name string) *object {
	o := s.objects[name]
	if o == nil {
		o = &object{parts: map[int][]byte{}}
		s.objects[name] = o
	}
	return o
}

func (o *object) found() found {
	f := found{Parts: map[int]string{}, Finished: o.whole != nil}
	for n, part := range o.parts {
		f.Parts[n] = sum(part)
	}
	return f
}

func (o *object) put(part string, body []byte) error {
	n, err := strconv.Atoi(part)
	if err != nil {
		return err
	}
	o.parts[n] = body
	o.stored++
	return nil
}

func (o *object) finish(parts string) error {
	n, err := strconv.Atoi(parts)
	if err != nil {
		return err
	}
	var whole [][]byte
	for i := range n {
		part, ok := o.parts[i]
		if !ok {
			return fmt.Errorf("part %d is missing", i)
		}
		whole = append(whole, part)
	}
	o.whole = bytes.Join(whole, nil)
	o.finishes++
	return nil
}

// finished reports whether there is an object of that name.
func (s *store) finished(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.object(name).whole != nil
}

// begun returns how many have begun to upload an object.
func (s *store) begun(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.object(name).begins
}
