package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Churn has a few clients acquire, time out, release, lose their connections, sessions
// and nodes, and close, in an order that the seed decides. When it returns nothing is
// acquired or held any more, and all clients are closed.
func (w *World) Churn(seed uint64, newOne func(c *framework.Client, rnd *rand.Rand) lease.Acquirer, change ...func(*framework.Config)) {
	w.T.Helper()
	ch := &churn{World: w, rnd: rand.New(rand.NewPCG(seed, 0)), newOne: newOne, change: change}
	for i := range ch.clients {
		ch.replace(i)
	}
	for range 300 {
		ch.step()
	}
	w.Heal()
	for _, at := range ch.attempts {
		at.Cancel(errChurn)
		<-at.Done()
		ch.settle(at)
	}
	w.CloseAll()
	w.After(2 * SessionTimeout)
}

var errChurn = errors.New("cancelled by the churn")

type churn struct {
	*World
	rnd      *rand.Rand
	newOne   func(c *framework.Client, rnd *rand.Rand) lease.Acquirer
	change   []func(*framework.Config)
	made     int
	clients  [3]*framework.Client
	names    [3]string
	attempts []*Attempt
}

// replace connects a client in the place of one.
func (ch *churn) replace(i int) {
	ch.made++
	ch.names[i] = fmt.Sprint("churn-", ch.made)
	ch.clients[i] = ch.Client(ch.names[i], ch.change...)
}

// settle releases what was acquired.
func (ch *churn) settle(at *Attempt) {
	if at.Err == nil {
		_ = at.Lease.Release() // it may be lost
	}
}

func (ch *churn) step() {
	i := ch.rnd.IntN(len(ch.clients))
	c, name := ch.clients[i], ch.names[i]
	switch n := ch.rnd.IntN(40); {
	case n < 16:
		timeouts := []time.Duration{0, 50 * time.Millisecond, time.Second, lease.Forever}
		ch.attempts = append(ch.attempts, ch.Begin(ch.T.Context(), ch.newOne(c, ch.rnd), timeouts[ch.rnd.IntN(len(timeouts))]))
	case n < 30 && len(ch.attempts) > 0:
		at := ch.attempts[ch.rnd.IntN(len(ch.attempts))]
		if n >= 27 {
			at.Cancel(errChurn)
		}
		if at.Waiting() {
			return
		}
		if n == 26 && at.Err == nil {
			_ = c.Delete(ch.T.Context(), at.Lease.Path(), framework.AnyVersion)
		}
		ch.settle(at)
		ch.attempts = slices.DeleteFunc(ch.attempts, func(other *Attempt) bool { return other == at })
	case n == 30:
		ch.Server.ExpireSession(c.Session().ID())
	case n == 31:
		ch.Server.DropConnections(name)
	case n == 32:
		ch.Server.Partition(name, true)
		pass(time.Duration(ch.rnd.IntN(2)) * SessionTimeout)
		ch.Server.Partition(name, false)
	case n == 33:
		_ = c.Close()
		ch.replace(i)
	default:
		pass(time.Duration(ch.rnd.IntN(1000)) * time.Millisecond)
	}
}
