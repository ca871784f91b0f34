package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/retry"
)

// longest is how long an uploader may take for an artifact, before another one tries.
const longest = time.Hour

// An artifact is what has to be in the bucket: here the report of a day.
type artifact struct {
	name  string // the same in all processes, and different for different artifacts
	parts [][]byte
}

// An uploader is in one of several processes, which all want the same artifacts to be
// in the bucket.
type uploader struct {
	job    *once.Job
	bucket bucket
	logger *slog.Logger
}

func newUploader(client *framework.Client, path string, b bucket, logger *slog.Logger) (*uploader, error) {
	// A bucket that does not answer must not keep all others waiting for ever.
	job, err := once.New(client, path, once.WithMaxHold(longest))
	return &uploader{job: job, bucket: b, logger: logger}, err
}

// upload returns nil when the artifact is in the bucket: uploaded by this process, by
// another, or before. It may be called again after any error.
func (u *uploader) upload(ctx context.Context, a artifact) error {
	return u.job.Do(ctx, a.name, func(ctx context.Context, held *lease.Lease) error {
		return u.send(ctx, a, held.Token())
	})
}

// send uploads what is missing. ctx ends with the lease, and with it the request that
// is under way. That one may arrive all the same: the token is what keeps it out.
func (u *uploader) send(ctx context.Context, a artifact, token lease.Token) error {
	// From now on the bucket refuses what it gets from those who had the lease before.
	had, err := u.bucket.begin(ctx, a.name, token)
	if err != nil || had.Finished {
		return err
	}
	for n, part := range a.parts {
		// Compared by content: whoever was killed may have had another version of it.
		if had.Parts[n] == sum(part) {
			continue
		}
		if err := u.bucket.put(ctx, a.name, n, part, token); err != nil {
			return err
		}
	}
	return u.bucket.finish(ctx, a.name, len(a.parts), token)
}

// uploadAll uploads all artifacts, and tries again until they are in the bucket or ctx
// ends: a lease can be lost, and an answer too.
func (u *uploader) uploadAll(ctx context.Context, artifacts []artifact) error {
	again := func(err error) retry.Verdict {
		u.logger.WarnContext(ctx, "not uploaded yet", "err", err)
		return retry.Again
	}
	for _, a := range artifacts {
		err := retry.DoIdempotent(ctx, retry.Policy{}, again, func(ctx context.Context) error { return u.upload(ctx, a) })
		if err != nil {
			return err
		}
	}
	return nil
}

// sum identifies a content.
func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
