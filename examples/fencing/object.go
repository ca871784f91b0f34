package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A bucket is what object stores with conditional writes have in common. A version is
// the ETag of S3 (If-Match) or Azure, or the generation of Google Cloud Storage
// (ifGenerationMatch).
type bucket interface {
	// get returns no body and no version if there is no such object.
	get(ctx context.Context, key string) (body []byte, version string, err error)
	// put writes the object if it still has that version, or, with none, if it does not
	// exist (If-None-Match: *, ifGenerationMatch=0). Else it returns an errChanged.
	put(ctx context.Context, key string, body []byte, version string) (next string, err error)
}

// errChanged is what a bucket answers with 412, and S3 also with 409.
var errChanged = errors.New("the object has another version")

// An object has the token of its newest holder beside the data. In a bucket that cannot
// compare numbers, it is the version that keeps older holders out, and the token that
// tells who is older. It must be in the body: an ETag of S3 does not change with the
// metadata. Such an ETag is the old one again when the body is, so each write has a
// text of its own: else a request of the same holder that was under way for long could
// find the version that it was made for.
type object struct {
	Token lease.Token     `json:"token"`
	Write string          `json:"write"`
	Data  json.RawMessage `json:"data"`
}

// claim reads the data, and leaves the token in the object: from now on the versions
// that older holders have read are old, so that nothing they write is accepted. A new
// holder that only read would have to wait for its own write until that is so.
func claim(ctx context.Context, b bucket, key string, token lease.Token) (data json.RawMessage, version string, err error) {
	for {
		body, version, err := b.get(ctx, key)
		if err != nil {
			return nil, "", err
		}
		var o object
		if version != "" {
			if err := json.Unmarshal(body, &o); err != nil {
				return nil, "", err
			}
		}
		if o.Token > token {
			return nil, "", fmt.Errorf("%s, token %v: %w", key, token, errFenced)
		}
		version, err = putObject(ctx, b, key, object{token, rand.Text(), o.Data}, version)
		if errors.Is(err, errChanged) {
			continue // an older holder was faster, or a newer one
		}
		return o.Data, version, err
	}
}

// replace writes the data, with the version of the claim or of the last replace. After
// an answer that was lost, call claim again, and look at the data: the request may have
// been carried out, and from the claim on it cannot be any more. If your client repeats
// requests by itself, do so after an errFenced, too: the first attempt may have been
// what changed the object.
func replace(ctx context.Context, b bucket, key string, token lease.Token, data json.RawMessage, version string) (next string, err error) {
	next, err = putObject(ctx, b, key, object{token, rand.Text(), data}, version)
	if errors.Is(err, errChanged) {
		err = fmt.Errorf("%s, token %v: %w", key, token, errFenced)
	}
	return next, err
}

func putObject(ctx context.Context, b bucket, key string, o object, version string) (next string, err error) {
	body, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	return b.put(ctx, key, body, version)
}
