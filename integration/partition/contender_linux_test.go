package partition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
)

// contenderEnv is the environment variable that makes this binary a contender. It holds
// a plan.
const contenderEnv = "ZKRECIPES_TEST_CONTENDER"

// glance is how often a contender checks whether its lease is valid.
const glance = 10 * time.Millisecond

// longestTurn is how long a contender holds a lease at most, unless it keeps it.
const longestTurn = 150 * time.Millisecond

// path is the mutex for which all contend.
const path = "/locks/contested"

// A plan describes a contender: it acquires the mutex again and again, until it is
// killed. It holds each lease for a moment or, if it keeps leases, until it is lost. A
// byte on its standard input, keep or letGo, changes that.
type plan struct {
	Servers []string
	Session time.Duration
	Seed    uint64
	Keep    bool
}

const (
	keep  byte = 'k'
	letGo byte = 'l'
)

// The events of reports.
const (
	evAttached = "attached" // a server has answered on a new connection
	evGranted  = "granted"  // a lease is valid
	evValid    = "valid"    // it is still valid
	evLost     = "lost"     // it is not any more
	evReleased = "released" // it was given up
	evMissed   = "missed"   // nothing was granted, or it was lost at once
)

// A report is a line of a contender's output. At is on the machine's clock; for
// evGranted and evValid the lease was certainly valid at that moment.
type report struct {
	Event   string
	At      time.Time
	Token   int64         `json:",omitempty"` // of evGranted, as the two that follow
	Session int64         `json:",omitempty"`
	Timeout time.Duration `json:",omitempty"`
	Trusted time.Time     // also of evValid: how long it is valid without further answers
	Text    string        `json:",omitempty"` // an error
}

// contend runs a contender and returns its exit code.
func contend(text string) int {
	err := func() error {
		var c contending
		if err := json.Unmarshal([]byte(text), &c.plan); err != nil {
			return err
		}
		return c.run(context.Background())
	}()
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// contending is a contender in its own process.
type contending struct {
	plan
	client *framework.Client
	rng    *rand.Rand
	keeps  atomic.Bool
	out    sync.Mutex // of its standard output
}

func (c *contending) run(ctx context.Context) (err error) {
	c.keeps.Store(c.Keep)
	go c.listen()
	c.rng = rand.New(rand.NewPCG(c.Seed, 0))
	c.client, err = framework.Connect(ctx, framework.Config{
		Servers: c.Servers, SessionTimeout: c.Session, Logger: slog.New(slog.DiscardHandler),
		Reconnect: retry.Exponential(5*time.Millisecond, 100*time.Millisecond), // servers may be back for a moment only
		Dial:      dial(func(at time.Time) { c.tell(report{Event: evAttached, At: at}) }),
	})
	if err != nil {
		return err
	}
	m, err := mutex.New(c.client, path)
	if err != nil {
		return err
	}
	for {
		held, err := m.Acquire(ctx, lease.Forever)
		if err == nil {
			err = c.hold(held)
		}
		if err != nil {
			c.tell(report{Event: evMissed, At: time.Now(), Text: err.Error()})
		}
		if err := retry.Sleep(ctx, glance); err != nil { // so that others are first sometimes
			return err
		}
	}
}

// listen reads standard input, and ends the process at its end.
func (c *contending) listen() {
	command := make([]byte, 1)
	for {
		if _, err := os.Stdin.Read(command); err != nil {
			os.Exit(0)
		}
		c.keeps.Store(command[0] == keep)
	}
}

// hold holds a lease for one turn or until it is lost. It reads the clock before each
// check: a lease that is valid afterwards was valid then.
func (c *contending) hold(held *lease.Lease) error {
	over := time.Now().Add(time.Duration(c.rng.Int64N(int64(longestTurn))))
	look := time.NewTicker(glance)
	defer look.Stop()
	event := report{
		Event: evGranted, At: time.Now(), Token: int64(held.Token()),
		Session: c.client.Session().ID(), Timeout: c.client.Session().Timeout(), Trusted: held.TrustedUntil(),
	}
	if err := held.Err(); err != nil {
		return errors.Join(err, held.Release())
	}
	for {
		c.tell(event)
		select {
		case <-look.C:
		case <-held.Context().Done():
		}
		if !c.keeps.Load() && time.Now().After(over) {
			err := held.Release()
			c.tell(report{Event: evReleased, At: time.Now(), Text: fmt.Sprint(err)})
			return nil
		}
		event = report{Event: evValid, At: time.Now(), Trusted: held.TrustedUntil()}
		if err := held.Err(); err != nil {
			c.tell(report{Event: evLost, At: time.Now(), Text: err.Error()})
			_ = held.Release() // it returns the same
			return nil
		}
	}
}

// tell writes a line with one write.
func (c *contending) tell(r report) {
	c.out.Lock()
	defer c.out.Unlock()
	line, err := json.Marshal(r)
	if err == nil {
		_, err = os.Stdout.Write(append(line, '\n'))
	}
	if err != nil {
		panic(err) // nothing that this process does can be reported
	}
}
