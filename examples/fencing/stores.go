package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
)

// allActs returns what is played, and what ends it.
func allActs(ctx context.Context, client *framework.Client) (acts []act, end func(), err error) {
	const node = folder + "/number"
	if err := client.CreateParents(ctx, node); err != nil {
		return nil, nil, err
	}
	if _, err := client.Create(ctx, node, []byte("0"), framework.Persistent); err != nil && !errors.Is(err, framework.ErrNodeExists) {
		return nil, nil, err
	}
	open, fenced := httptest.NewServer(new(numbers)), httptest.NewServer(newFence(new(numbers)))
	end = func() {
		open.Close()
		fenced.Close()
		_ = client.Delete(context.WithoutCancel(ctx), node, framework.AnyVersion)
	}
	return []act{
		{"HTTP, no token", remote{url: open.URL}, true},
		{"HTTP, the token with the write only", remote{url: fenced.URL + "/a", onlyWrites: true}, true},
		{"HTTP, the token with the read and the write", remote{url: fenced.URL + "/b"}, false},
		{"objects, no condition", objects{bucket: newMemory(), key: "a", careless: true}, true},
		{"objects, the token and If-Match", objects{bucket: newMemory(), key: "b"}, false},
		{"ZooKeeper, no check", znode{path: node, careless: true}, true},
		{"ZooKeeper, held.Check() in the transaction", znode{path: node}, false},
	}, end, nil
}

// A remote is a number of a service.
type remote struct {
	url        string
	onlyWrites bool // have a token
}

func (s remote) read(ctx context.Context, h holder) (number int, version string, err error) {
	token := h.Token().String()
	if s.onlyWrites {
		token = ""
	}
	text, err := s.call(ctx, http.MethodGet, token, "")
	if err == nil {
		number, err = strconv.Atoi(text)
	}
	return number, "", err
}

func (s remote) write(ctx context.Context, h holder, _ string, number int) error {
	_, err := s.call(ctx, http.MethodPut, h.Token().String(), strconv.Itoa(number))
	return err
}

func (s remote) call(ctx context.Context, method, token, body string) (answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set(tokenHeader, token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return "", err
	case response.StatusCode == http.StatusPreconditionFailed:
		return "", fmt.Errorf("%w: %s", errFenced, text)
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s: %s", response.Status, text)
	}
	return string(text), nil
}

// Numbers are a service that knows nothing of tokens.
type numbers struct{ all sync.Map }

func (n *numbers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		n.all.Store(r.URL.Path, string(body))
	}
	number, ok := n.all.Load(r.URL.Path)
	if !ok {
		number = "0"
	}
	fmt.Fprint(w, number)
}

// Objects are a number in a bucket.
type objects struct {
	bucket   *memory
	key      string
	careless bool // reads and writes it, as most programs do
}

func (s objects) read(ctx context.Context, h holder) (number int, version string, err error) {
	var data json.RawMessage
	if s.careless {
		data, _, err = s.bucket.get(ctx, s.key)
	} else {
		data, version, err = claim(ctx, s.bucket, s.key, h.Token())
	}
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &number) // null is 0
	}
	return number, version, err
}

func (s objects) write(ctx context.Context, h holder, version string, number int) error {
	data := json.RawMessage(strconv.Itoa(number))
	if s.careless {
		s.bucket.set(s.key, data)
		return nil
	}
	_, err := replace(ctx, s.bucket, s.key, h.Token(), data, version)
	return err
}

// A memory plays the object store. Its versions are those of S3: they say what is in an
// object, and nothing about its metadata.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func newMemory() *memory { return &memory{objects: map[string][]byte{}} }

func (m *memory) get(_ context.Context, key string) (body []byte, version string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects[key], m.version(key), nil
}

func (m *memory) put(_ context.Context, key string, body []byte, version string) (next string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.version(key) != version {
		return "", fmt.Errorf("%s: %w", key, errChanged)
	}
	m.objects[key] = body
	return m.version(key), nil
}

// set writes without a condition.
func (m *memory) set(key string, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key] = body
}

func (m *memory) version(key string) string {
	body, ok := m.objects[key]
	if !ok {
		return ""
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// A znode is a number in ZooKeeper.
type znode struct {
	path     string
	careless bool
}

func (s znode) read(ctx context.Context, h holder) (number int, version string, err error) {
	data, _, err := h.client.Get(ctx, s.path)
	if err == nil {
		number, err = strconv.Atoi(string(data))
	}
	return number, "", err
}

func (s znode) write(ctx context.Context, h holder, _ string, number int) error {
	set := framework.SetOp(s.path, []byte(strconv.Itoa(number)), framework.AnyVersion)
	ops := []framework.Op{h.Check(), set}
	if s.careless {
		ops = ops[1:]
	}
	_, err := h.client.Multi(ctx, ops...)
	if errors.Is(err, framework.ErrNoNode) {
		err = fmt.Errorf("%w: %w", errFenced, err)
	}
	return err
}
