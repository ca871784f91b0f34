package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// A process is one of the instances.
type process struct {
	id, url string
	cmd     *exec.Cmd
	input   io.Closer // it ends when this is closed
	log     bytes.Buffer
	ended   chan struct{} // closed when it has
	status  error         // of its end

	body   io.WriteCloser // of a request that it is serving
	answer chan error     // what became of that
}

// start starts an instance, which ctx kills, and waits until it serves.
func start(ctx context.Context, id string, args ...string) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args = append([]string{"--listen", "127.0.0.1:0", "--id", id}, args...)
	p := &process{id: id, cmd: exec.CommandContext(ctx, program, args...), ended: make(chan struct{})}
	p.cmd.Stderr = &p.log
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	url, err := bufio.NewReader(output).ReadString('\n') // its only line
	go func() {
		p.status = p.cmd.Wait()
		close(p.ended)
	}()
	if err != nil {
		p.end()
		return nil, fmt.Errorf("instance %s has not started: %w\n%s", id, err, &p.log)
	}
	p.url = strings.TrimSpace(url)
	return p, nil
}

// end has the process end, and waits until it has.
func (p *process) end() {
	p.input.Close()
	if p.body != nil {
		p.body.Close()
	}
	<-p.ended
}

// await waits until the process has ended, and fails unless it ended in order.
func (p *process) await(ctx context.Context) error {
	select {
	case <-p.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if p.status != nil {
		return fmt.Errorf("instance %s: %w\n%s", p.id, p.status, &p.log)
	}
	return nil
}

// request begins a request that the instance serves until finish. The first bytes of
// the body are sent when the instance begins to read them.
func (p *process) request(ctx context.Context) error {
	body, w := io.Pipe()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/echo", body)
	if err != nil {
		return err
	}
	request.Header.Set("Expect", "100-continue")
	p.body, p.answer = w, make(chan error, 1)
	go func() {
		transport := &http.Transport{ExpectContinueTimeout: tooLong, DisableKeepAlives: true}
		p.answer <- echoed(transport.RoundTrip(request))
	}()
	_, err = io.WriteString(w, text[:1])
	return err
}

// text is what the requests send.
const text = "what is under way"

func echoed(answer *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || string(got) != text) {
		err = fmt.Errorf("%s: %q", answer.Status, got)
	}
	return err
}

// finish ends the request, which must have been served as if nothing had happened.
func (p *process) finish() error {
	if _, err := io.WriteString(p.body, text[1:]); err != nil {
		return fmt.Errorf("instance %s has given up a request: %w", p.id, err)
	}
	p.body.Close()
	if err := <-p.answer; err != nil {
		return fmt.Errorf("instance %s has not finished a request: %w", p.id, err)
	}
	return nil
}

// get returns the answer to a GET request, an error unless it is 200.
func (p *process) get(ctx context.Context, path string) (body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(body))
	}
	return body, err
}

// leader is what the instance says at /leader, "" while it does not know.
func (p *process) leader(ctx context.Context) string {
	var answer leading
	if body, err := p.get(ctx, "/leader"); err != nil || json.Unmarshal(body, &answer) != nil {
		return ""
	}
	return answer.Leader
}
