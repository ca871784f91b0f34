package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// A traffic is the clients, and what they saw.
type traffic struct {
	url       string
	transport *http.Transport

	mu      sync.Mutex
	changed int // answers 200
	busy    int // answers 503, with Retry-After
	gone    int // hung up before an answer
	other   error
}

func newTraffic(url string) *traffic { return &traffic{url: url, transport: new(http.Transport)} }

// send sends a request for each order at the same time, and returns when all clients
// have an answer.
func (t *traffic) send(ctx context.Context, orders ...string) {
	var all sync.WaitGroup
	for _, id := range orders {
		all.Go(func() { t.post(ctx, id) })
	}
	all.Wait()
}

// post is one client. It hangs up when ctx ends.
func (t *traffic) post(ctx context.Context, id string) {
	status, header, err := t.do(ctx, http.MethodPost, "/orders/"+id, io.Discard)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled):
		t.gone++
	case err == nil && status == http.StatusOK:
		t.changed++
	case err == nil && status == http.StatusServiceUnavailable && header.Get("Retry-After") != "":
		t.busy++
	case t.other == nil && err == nil:
		t.other = fmt.Errorf("order %s: status %d", id, status)
	case t.other == nil:
		t.other = fmt.Errorf("order %s: %w", id, err)
	}
}

// metrics returns what the service has at /metrics.
func (t *traffic) metrics(ctx context.Context) (series, error) {
	var text strings.Builder
	_, _, err := t.do(ctx, http.MethodGet, "/metrics", &text)
	return parse(text.String()), err
}

func (t *traffic) do(ctx context.Context, method, path string, body io.Writer) (status int, header http.Header, err error) {
	request, err := http.NewRequestWithContext(ctx, method, t.url+path, strings.NewReader("one book"))
	if err != nil {
		return 0, nil, err
	}
	answer, err := t.transport.RoundTrip(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(body, answer.Body)
	return answer.StatusCode, answer.Header, err
}
