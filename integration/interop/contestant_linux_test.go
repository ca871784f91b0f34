package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// contestantEnv is the environment variable that makes this binary the Go process of a
// contest. It holds a contestant.
const contestantEnv = "ZKRECIPES_INTEROP_CONTESTANT"

func init() {
	asContestant = func() (code int, is bool) {
		text := os.Getenv(contestantEnv)
		if text == "" {
			return 0, false
		}
		var c contestant
		err := json.Unmarshal([]byte(text), &c)
		if err == nil {
			err = c.run()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1, true
		}
		return 0, true
	}
}

// A contestant is the Go process of a contest.
type contestant struct {
	Recipe     string
	Server     string
	Path       string
	Session    time.Duration
	Contenders int
	Size, Most int // of a semaphore, and how many permits to take at once
	Seed       uint64
	number     int // of one of the contenders
}

// run lets contenders contend until a line comes on standard input, and stays connected
// until that ends. They share two clients, as the parts of a service do.
func (c contestant) run() error {
	var clients []*framework.Client
	for range 2 {
		client, err := c.connect()
		if err != nil {
			return err
		}
		clients = append(clients, client)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
		_, _ = io.Copy(io.Discard, os.Stdin) // also ends when the test does
		close(ended)
	}()
	errs := make([]error, c.Contenders)
	var group sync.WaitGroup
	for i := range c.Contenders {
		group.Go(func() {
			if errs[i] = c.contend(ctx, clients[i%len(clients)], i); errs[i] != nil {
				cancel()
			}
		})
	}
	group.Wait()
	if errors.Join(errs...) == nil {
		(&ledger{who: goSide}).write(note{Event: "idle"})
		<-ended
	}
	for _, client := range clients {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}

// contend takes turns until ctx ends.
func (c contestant) contend(ctx context.Context, client *framework.Client, number int) error {
	rng := rand.New(rand.NewPCG(c.Seed, uint64(number))) //nolint:gosec // a small number
	l := &ledger{who: fmt.Sprintf("%s-%d", goSide, number)}
	c.number = number
	turns, err := recipes[c.Recipe](client, c, rng)
	for err == nil && ctx.Err() == nil {
		err = l.judge(ctx, turns(ctx, l))
		_ = retry.Sleep(ctx, time.Duration(rng.Int64N(int64(5*time.Millisecond)))) // so that others are first sometimes
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.who, err)
	}
	return nil
}

func (c contestant) connect() (*framework.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return framework.Connect(ctx, framework.Config{
		Servers: []string{c.Server}, SessionTimeout: c.Session, Logger: slog.New(slog.DiscardHandler),
	})
}

// A ledger writes when one contender begins and ends to hold something.
type ledger struct{ who string }

var holds atomic.Int64 // in this process

// write writes a line with one write, so that a kill leaves no part of one.
func (l *ledger) write(n note) {
	n.Who = l.who
	line, err := json.Marshal(n)
	if err == nil {
		_, err = os.Stdout.Write(append(line, '\n'))
	}
	if err != nil {
		panic(err) // nothing that this process does can be reported
	}
}

// judge returns the error of a turn, unless it is expected.
func (l *ledger) judge(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, lease.ErrTimeout):
		l.write(note{Event: "miss", Why: "timeout"})
	case errors.Is(err, lease.ErrLost):
		l.write(note{Event: "miss", Why: "lost"})
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
	default:
		return err
	}
	return nil
}

// A holding is a lease of a contender.
type holding struct {
	*ledger
	lease *lease.Lease
	id    int64
	valid int64 // the last reading of the clock at which the lease was valid
	lost  bool
}

// begin writes that a lease was granted that was requested at that time. It returns nil
// if the lease is lost already.
func (l *ledger) begin(n note, held *lease.Lease) (*holding, error) {
	var err error
	if n.At, err = monotonic(); err != nil {
		return nil, err
	}
	// A pause between two readings makes the trust shorter, not longer.
	n.Trust = n.At + int64(time.Until(held.TrustedUntil()))
	if err := held.Err(); err != nil {
		return nil, err
	}
	n.Event, n.Hold = "begin", holds.Add(1)
	n.Node, n.Token = held.Path(), int64(held.Token())
	for i, token := range held.Tokens() {
		if i < len(n.Locks) {
			n.Tokens = append(n.Tokens, int64(token))
		}
	}
	l.write(n)
	return &holding{ledger: l, lease: held, id: n.Hold, valid: n.At}, nil
}

// linger waits for that long, or until the lease is lost.
func (h *holding) linger(span time.Duration) error {
	const glance = 10 * time.Millisecond
	for ; span > 0; span -= glance {
		over := retry.Sleep(h.lease.Context(), min(span, glance)) != nil // lost, or the end of the contest
		if err := h.look(); err != nil || over {
			return err
		}
	}
	return nil
}

// look records whether the lease is still valid. The clock is read first: a lease that
// is valid afterwards was valid then.
func (h *holding) look() error {
	now, err := monotonic()
	if h.lost = h.lease.Err() != nil; !h.lost {
		h.valid = now
	}
	return err
}

// end writes that the lease is about to be released, or is lost.
func (h *holding) end() error {
	err := h.look()
	h.write(note{Event: "end", Hold: h.id, At: h.valid, Lost: h.lost})
	return err
}

// span returns how long to hold something: some milliseconds, and sometimes far longer.
func span(rng *rand.Rand) time.Duration {
	if rng.IntN(25) == 0 {
		return time.Duration(100+rng.IntN(300)) * time.Millisecond
	}
	return time.Duration(1000+rng.IntN(14000)) * time.Microsecond
}

// waitLimit returns how long to wait: mostly for ever, sometimes a very short time.
func waitLimit(rng *rand.Rand) time.Duration {
	if rng.IntN(12) == 0 {
		return time.Duration(rng.IntN(30)) * time.Millisecond
	}
	return lease.Forever
}
