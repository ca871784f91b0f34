package example

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// headerTimeout is for requests to Serve.
const headerTimeout = 2 * time.Minute

// Serve serves HTTP until stop, on a port of its own: the processes of a program report
// there what they do.
func Serve(handler http.Handler) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTimeout}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) }) // until Close
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close()
		served.Wait()
		http.DefaultClient.CloseIdleConnections() // of tests that send reports themselves
	}, nil
}

// Post sends a report, and returns the text of the answer. Any other answer than 200 is
// an error with that text.
func Post(ctx context.Context, url string) (text string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	text = strings.TrimSpace(string(body))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(text)
	}
	return text, err
}

// WhileOpen returns a context that ends with ctx, and at the end of an input: when the
// process does that has started this one. That is only for these programs: the input
// of a service may be empty from the start.
func WhileOpen(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx, cancel
}
