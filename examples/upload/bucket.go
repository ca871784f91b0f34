package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// tokenHeader has the fencing token of a write.
const tokenHeader = "Fencing-Token"

// errOldToken means that the bucket has seen a newer token for that object.
var errOldToken = errors.New("the token is old")

// found is what the bucket has of an object.
type found struct {
	Parts    map[int]string `json:"parts"` // the sum of each
	Finished bool           `json:"finished"`
}

// A bucket is the address of an object store, as an SDK would have it.
type bucket string

// begin tells the bucket of a new uploader, and returns what there is.
func (b bucket) begin(ctx context.Context, name string, token lease.Token) (f found, err error) {
	answer, err := b.call(ctx, http.MethodPost, name, nil, token)
	if err != nil {
		return f, err
	}
	err = json.Unmarshal(answer, &f)
	return f, err
}

// put uploads a part.
func (b bucket) put(ctx context.Context, name string, n int, part []byte, token lease.Token) error {
	_, err := b.call(ctx, http.MethodPut, fmt.Sprintf("%s/%d", name, n), part, token)
	return err
}

// finish makes an object of its parts. Nobody can read it before that.
func (b bucket) finish(ctx context.Context, name string, parts int, token lease.Token) error {
	_, err := b.call(ctx, http.MethodPut, name, fmt.Append(nil, parts), token)
	return err
}

func (b bucket) call(ctx context.Context, method, path string, body []byte, token lease.Token) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, string(b)+"/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set(tokenHeader, token.String())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusPreconditionFailed:
		return nil, fmt.Errorf("%s: %w", path, errOldToken)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s: %s", path, answer.Status, strings.TrimSpace(string(text)))
	}
	return text, nil
}
