// Command upload has three processes upload the same three artifacts to an object
// store, in parts, and kills the one that uploads with SIGKILL in the middle of it: how
// is each artifact uploaded once? It needs nothing but Go:
//
//	go run ./examples/upload
//
// With recipes/once, one process uploads an artifact and the others wait. When it is
// killed the next one goes on with the parts that are missing. A request that was on
// its way then arrives late, and is refused by its token. An artifact that was finished
// before its uploader could record that is not uploaded again. File uploader.go is what
// a process needs; the rest plays the world around it.
//
// The object store compares tokens. Others have conditional writes instead:
//
//   - Amazon S3: nobody sees the parts of a multipart upload before it is completed.
//     CompleteMultipartUpload with If-None-Match: * makes an object that does not exist
//     yet, and else fails with 412: then the artifact is there. UploadPart has no
//     conditions, so give each lease an upload of its own, or keep to contents that
//     are the same in all processes.
//     A 409 says that two such requests met: upload again.
//   - Google Cloud Storage: ifGenerationMatch=0 does the same for an upload that is
//     resumable, or for the compose request that joins parts. The XML API's multipart
//     uploads take no preconditions.
//   - An object that is replaced, such as report-latest: store the token in its
//     metadata, and read it together with the ETag or the generation. If it is greater
//     than yours give up. Else write with If-Match, or ifGenerationMatch: that fails if
//     anybody has written since. In S3 equal contents have equal ETags, whatever their
//     metadata: have the token in the content as well.
//
// The program starts a ZooKeeper server in its own process. With --servers HOST:PORT it
// uses that one.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	processes = 3
	partsEach = 6
	// sessionTimeout is short, so that another goes on soon after one is killed.
	sessionTimeout = 2 * time.Second
	// tooLong is more than the program takes on the slowest machine, and patience how
	// long it waits in the end to remove its znodes.
	tooLong, patience = 2 * time.Minute, 10 * time.Second
)

// errTooLong is why the program ends when an upload hangs.
var errTooLong = fmt.Errorf("not done in %v", tooLong)

// reports are the artifacts.
var reports = []artifact{report("2026-11-24"), report("2026-11-25"), report("2026-11-26")}

// report returns the one of a day, the same in all processes.
func report(day string) artifact {
	a := artifact{name: "report-" + day}
	for n := range partsEach {
		line := fmt.Appendf(nil, "%s, line of part %d\n", day, n)
		a.parts = append(a.parts, bytes.Repeat(line, 1000))
	}
	return a
}

// unlockedReport is the one that is uploaded without recipes/once.
var unlockedReport = report("2026-11-23")

// plan is what happens to the process that uploads: in this order, as the artifacts are
// uploaded one after the other.
var plan = []kill{
	{method: http.MethodPut, path: reports[0].name + "/2"},             // in the middle
	{method: http.MethodPut, path: reports[1].name + "/3", late: true}, // with a part on its way
	{method: http.MethodPut, path: reports[2].name},                    // before it can record the end
}

func main() { program().Main() }

// program is one of the processes, or all of them and what happens to them.
func program() example.Program {
	var b, path string
	return example.Program{
		Name: "upload",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&b, "bucket", "", "the `URL` of the bucket, for one of the processes")
			flags.StringVar(&path, "path", "", "the `PATH` of the job, for one of the processes")
		},
		Server: []zktest.Option{zktest.WithTick(sessionTimeout / 2)},
		Run: func(ctx context.Context, servers []string, out io.Writer) error {
			if b != "" {
				return work(ctx, servers, path, bucket(b), os.Stdin)
			}
			return run(ctx, servers, newStore(), out)
		},
	}
}

// work is one of the processes. It ends early when the input does, and so when the
// process does that has started it.
func work(ctx context.Context, servers []string, path string, b bucket, in io.Reader) error {
	ctx, cancel := example.WhileOpen(ctx, in)
	defer cancel()
	client, err := connect(ctx, servers)
	if err != nil {
		return err
	}
	defer client.Close()
	u, err := newUploader(client, path, b, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	return u.uploadAll(ctx, reports)
}

func connect(ctx context.Context, servers []string) (*framework.Client, error) {
	return framework.Connect(ctx, framework.Config{
		Servers: servers, SessionTimeout: sessionTimeout, Logger: slog.New(slog.DiscardHandler),
	})
}

// run has the processes upload, first without and then with recipes/once, and compares
// what the store got.
func run(ctx context.Context, servers []string, s *store, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, tooLong, errTooLong)
	defer cancel()
	client, err := connect(ctx, servers)
	if err != nil {
		return err
	}
	defer client.Close()
	// A path of its own, as runs of this program have different object stores.
	path := "/examples/upload/" + rand.Text()
	defer func() {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer done()
		removed := client.DeleteTree(ctx, path)
		if !errors.Is(removed, framework.ErrNoNode) {
			err = errors.Join(err, removed)
		}
	}()
	c := newCluster(ctx, s, plan)
	c.args = []string{"--servers", strings.Join(servers, ","), "--path", path}
	defer c.ended.Wait()
	defer cancel()
	url, stop, err := example.Serve(c)
	if err != nil {
		return err
	}
	defer stop()
	if err := unlocked(ctx, bucket(url+"/0"), s, out); err != nil {
		return err
	}
	began := time.Now()
	if err := c.play(processes, url); err != nil {
		return err
	}
	fmt.Fprintf(out, "with recipes/once, in %v: %d processes, of which %d were killed in the middle and started again\n",
		time.Since(began).Round(time.Second), processes, c.killed)
	t := count(s)
	fmt.Fprint(out, t)
	return t.check()
}
