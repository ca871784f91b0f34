package histories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Creates and deletes travel in groups only while some calls of the client are under
// way. So in some scenarios each client has callers beside its threads. Each makes a
// node on a path of its own, and deletes it. They call just before a thread acquires or
// releases, and the server takes its time for each of these calls.

const (
	besidePath = "/beside"
	// besideTime is what the server needs for a call of them.
	besideTime = 200 * time.Microsecond
	// apart is the time between two of them, so that their order repeats.
	apart = time.Microsecond
)

func ownPath(i int) string       { return fmt.Sprintf("%s/own-%d", besidePath, i) }
func forbiddenPath(i int) string { return fmt.Sprintf("%s/forbidden-%d", besidePath, i) }

// missingPath is that of a parent that does not exist.
const missingPath = besidePath + "/missing"

// travelTogether adds callers beside the threads, and strikes groups. It has its own
// die, so that the rest of the scenario does not depend on it.
func (s *Scenario) travelTogether() {
	d := newDie(s.Seed, 0x67726f757073)
	if !d.chance(33) {
		return
	}
	s.Beside = 9 + d.IntN(6)
	if n := d.IntN(4); n > 0 {
		s.Groups = zktest.RandomSchedule(s.Seed, n, 40,
			zktest.CutConnection, zktest.CutConnection, zktest.DropReply, zktest.Mute,
			zktest.Delay(10*time.Millisecond), zktest.Delay(time.Second), zktest.Delay(past))
	}
}

// prepareBeside makes the paths of the callers.
func (s Scenario) prepareBeside(ctx context.Context, c *framework.Client) error {
	ops := []framework.Op{framework.CreateOp(besidePath, nil, framework.Persistent)}
	readOnly := framework.WithACL(framework.WorldACL(framework.PermRead))
	for i := range s.Beside {
		ops = append(ops, framework.CreateOp(ownPath(i), nil, framework.Persistent),
			framework.CreateOp(forbiddenPath(i), nil, framework.Persistent, readOnly))
	}
	_, err := c.Multi(ctx, ops...)
	return err
}

// A beside is one caller.
type beside struct {
	*run
	number int
	die    die

	mu   sync.Mutex        // a call is under way
	made framework.Created // "" for none
	last int64             // the greatest czxid
}

func (r *run) newBeside(st *station) (all []*beside) {
	for i := range r.scenario.Beside {
		all = append(all, &beside{run: r, number: i, die: newDie(r.scenario.Seed, uint64(0x626573696465+st.number*100+i))})
	}
	return all
}

// travelTogether has the callers beside a thread send something. When it returns that
// is under way or waits, and so does what the thread sends next.
func (th *thread) travelTogether() {
	for i, b := range th.station.beside {
		if !b.mu.TryLock() {
			continue
		}
		client := th.station.client
		th.besides.Go(func() {
			defer b.mu.Unlock()
			<-time.After(time.Duration(i) * apart)
			b.call(client)
		})
	}
	if all := len(th.station.beside); all > 0 {
		<-time.After(time.Duration(all) * apart)
	}
}

// cancelAfter cancels a step after some time, unless it is stopped before. What a
// waiter sends when it leaves travels together with others, too.
func (th *thread) cancelAfter(d time.Duration, cancel func(cause error)) (stop func()) {
	if th.scenario.Beside == 0 {
		timer := time.AfterFunc(d, func() { cancel(errCancelled) })
		return func() { timer.Stop() }
	}
	stopped := make(chan struct{})
	th.besides.Go(func() {
		select {
		case <-time.After(d):
			th.travelTogether()
			cancel(errCancelled)
		case <-stopped:
		}
	})
	return func() { close(stopped) }
}

// call deletes the node that it has made, or makes one. Now and then it leaves early,
// or asks for what is refused.
func (b *beside) call(client *framework.Client) {
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	if b.die.chance(10) {
		defer time.AfterFunc(b.die.upTo(3*time.Millisecond), func() { cancel(errCancelled) }).Stop()
	}
	refused := ""
	switch b.die.IntN(60) {
	case 0:
		refused = missingPath
	case 1:
		refused = forbiddenPath(b.number)
	case 2:
		err := client.DeleteGuaranteed(ctx, fmt.Sprintf("%s/gone-%d", ownPath(b.number), b.number))
		b.mustBe(err, framework.ErrNoNode)
		return
	}
	switch {
	case refused != "":
		kit.Of(client).RecordParent(refused, true)
		_, err := client.CreateProtected(ctx, refused+"/n-", nil, framework.EphemeralSequential)
		b.mustBe(err, framework.ErrNoNode, framework.ErrNoAuth)
	case b.made.Path == "":
		kit.Of(client).RecordParent(ownPath(b.number), true)
		b.create(ctx, client)
	default:
		b.delete(ctx, client)
	}
}

// create makes a node, and checks that it is the one of that czxid, and that the
// listing behind it shows it.
func (b *beside) create(ctx context.Context, client *framework.Client) {
	session := client.Session()
	if session == nil {
		return
	}
	f := follower{view: kit.Of(client.In(session)), path: ownPath(b.number)}
	made, err := f.view.CreateSent(ctx, f.path+"/n-", nil, framework.EphemeralSequential, func() {}, f.list)
	if err != nil {
		b.mustBe(err)
		return
	}
	info, ok := b.server.Node(made.Path)
	switch {
	case !strings.HasPrefix(made.Path, ownPath(b.number)+"/"):
		b.brokenf("I2: a caller on %s has made %s", ownPath(b.number), made.Path)
	case !ok && b.lives(made.Session):
		b.brokenf("I1: a caller has made a node that does not exist: %s", made.Path)
	case ok && (info.Czxid != made.Czxid || info.EphemeralOwner != made.Session), made.Czxid <= b.last:
		b.brokenf("I2: a caller has made %v after %d, its node is %v", made, b.last, info)
	}
	if names, err := f.shown(); err == nil && !slices.Contains(names, strings.TrimPrefix(made.Path, f.path+"/")) && b.lives(made.Session) {
		b.brokenf("listing: behind the create of %s it shows %v", made.Path, names)
	}
	b.made, b.last = made, max(b.last, made.Czxid)
}

// delete deletes the node, and checks that it is gone.
func (b *beside) delete(ctx context.Context, client *framework.Client) {
	node := b.made.Path
	b.made = framework.Created{}
	err := client.DeleteGuaranteed(ctx, node)
	if err == nil || errors.Is(err, framework.ErrNoNode) {
		if _, ok := b.server.Node(node); ok {
			b.brokenf("I5: a caller has deleted %s (%v), and it is there", node, err)
		}
		return
	}
	b.mustBe(err)
}

// mustBe checks that a call has failed in one of these ways, or as any may.
func (b *beside) mustBe(err error, refusals ...error) {
	may := append([]error{errCancelled, errTooLong, framework.ErrSessionLost, framework.ErrClosed, framework.ErrUnknownOutcome}, refusals...)
	if !slices.ContainsFunc(may, func(allowed error) bool { return errors.Is(err, allowed) }) {
		b.brokenf("errors: a caller on %s failed with %v", ownPath(b.number), err)
	}
}

// lives tells whether a session is not over on the server.
func (r *run) lives(session int64) bool {
	return slices.ContainsFunc(r.server.Sessions(), func(s zktest.SessionInfo) bool { return s.ID == session })
}

// isBeside tells whether a call is one of these callers, or a group that begins with
// it.
func isBeside(c zktest.Call) bool { return strings.HasPrefix(c.Path, besidePath) }

// slowBeside has the server take its time for one.
func slowBeside(c zktest.Call) zktest.Action {
	if c.Phase == zktest.PhaseBeforeApply {
		return zktest.Delay(besideTime)
	}
	return zktest.Pass
}

// besideNodes returns the nodes that they have made.
func (r *run) besideNodes() (all []string) {
	for i := range r.scenario.Beside {
		for _, child := range r.server.Children(ownPath(i)) {
			all = append(all, ownPath(i)+"/"+child)
		}
	}
	return all
}

// deleteBeside deletes what they have left.
func (r *run) deleteBeside() {
	r.besides.Wait()
	for _, st := range r.clients {
		for _, b := range st.beside {
			if b.made.Path != "" && st.client != nil {
				r.besides.Go(func() { b.delete(r.ctx, st.client) })
			}
		}
	}
	r.besides.Wait()
}
