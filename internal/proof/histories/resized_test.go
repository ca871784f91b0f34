package histories

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// The numbers of stripes between which clients change. For each of them a key has
// another stripe.
const (
	fewStripes  = 2 // at first
	moreStripes = 3
)

var numbers = []int{fewStripes, moreStripes}

// resizeLimit is how long a step tries to change the number.
const resizeLimit = 3 * time.Second

// resizedSubject is keys on stripes whose number changes.
func resizedSubject() *subject {
	s := stripedSubject()
	s.name, s.model, s.queues = "resized stripes", resizedModel, stripeQueues(moreStripes)
	s.open = func(c *framework.Client, th *thread) player { return keysOf{th, c} }
	// An unused path is removed after a minute, and the number with it.
	s.prepare = func(ctx context.Context, c *framework.Client, _ Scenario) error {
		err := c.CreateParents(ctx, path)
		if err == nil {
			_, err = c.Create(ctx, path, znode.Stripes(fewStripes), framework.Persistent)
		}
		return err
	}
	choose := s.choose
	s.choose = func(d die, st, outer *Step) {
		for choose(d, st, outer); st.Side == anyShare; {
			choose(d, st, outer)
		}
		if outer == nil && d.chance(12) {
			st.Do, st.Side, st.N = Resize, "", numbers[d.IntN(len(numbers))]
		}
	}
	refused := s.allowed
	s.allowed = func(s Scenario, outer *tenure, st Step, err error) bool {
		return refused(s, outer, st, err) || st.Wait <= 0 && errors.Is(err, striped.ErrSizeMismatch) && s.does(Resize)
	}
	return s
}

// keysOf are the keys of stripes whose number changes, as a thread uses them. It keeps
// what it knows of each number, also when that is not stored any more.
type keysOf struct {
	*thread
	client *framework.Client
}

// locks returns the stripes by a number.
func (p keysOf) locks(n int) *striped.Locks {
	return p.station.locks(p.client, p.scenario, n)
}

// present returns the number that is stored, as far as the client knows.
func (p keysOf) present() int {
	return numbers[int(p.station.resized.Load())%len(numbers)]
}

// acquire acquires a key. If the number is refused it tries the other one, once if it
// must not wait.
func (p keysOf) acquire(ctx context.Context, st Step) (held *lease.Lease, err error) {
	start := time.Now()
	for tries := 0; st.Wait > 0 || tries < 2; tries++ {
		n := p.present()
		held, err = p.locks(n).For(st.Side).Acquire(ctx, acquire.Left(st.Wait, start))
		if !errors.Is(err, striped.ErrSizeMismatch) {
			return held, err
		}
		p.refused(n)
	}
	return held, err
}

// refused records that a number is not stored.
func (p keysOf) refused(n int) {
	if p.present() == n {
		p.station.resized.Add(1)
	}
}

func (keysOf) slots(l *lease.Lease, st Step) []*slot {
	slots := slotOfStripe(l)
	for _, s := range slots {
		s.number = numberBy(st.Side, s.lock)
	}
	return slots
}

// other changes the number.
func (p keysOf) other(ctx context.Context, th *thread, st Step) {
	for range numbers {
		n := p.present()
		o := th.call(op{Thread: th.number, What: opResize, N: st.N})
		_, o.Err = p.locks(n).Resize(ctx, st.N, resizeLimit)
		switch {
		case o.Err == nil:
		case errors.Is(o.Err, errTooLong):
			th.brokenf("I4: thread %d has not changed the number in time", th.number)
		case errors.Is(o.Err, lease.ErrTimeout), errors.Is(o.Err, lease.ErrLost), errors.Is(o.Err, striped.ErrSizeMismatch):
		case th.subject.allowed(th.scenario, nil, st, o.Err), errors.Is(o.Err, framework.ErrTooManyEphemerals):
		default:
			th.checkOtherError(ctx, o)
		}
		if o.Err == nil || errors.Is(o.Err, framework.ErrUnknownOutcome) {
			th.returned(o) // one of unknown outcome may have taken effect, or may still do so
		}
		if !errors.Is(o.Err, striped.ErrSizeMismatch) {
			return
		}
		p.refused(n)
	}
}

// resizesStripes tells whether stripes may be held that no step has acquired.
func (s Scenario) resizesStripes() bool { return s.Recipe == "resized stripes" }

// numberedStripes is stripes and their number.
type numberedStripes struct {
	locks [moreStripes]exclusive
	n     int
}

// resizedModel is stripes whose number changes only while all of them are free. Nobody
// is granted a stripe by another number.
func resizedModel(int) porcupine.Model {
	return modelOf(numberedStripes{n: fewStripes}, func(s numberedStripes, o op) (numberedStripes, bool) {
		if o.What == opResize {
			held := slices.ContainsFunc(s.locks[:], func(e exclusive) bool { return e.leases > 0 })
			s.n = o.N
			return s, !held
		}
		for _, on := range o.Slots {
			next, ok := s.locks[on.lock].step(o.What, on.token, on.inner)
			if !ok || o.What == opAcquire && s.n != numberBy(o.Side, on.lock) {
				return s, false
			}
			s.locks[on.lock] = next
		}
		return s, true
	}, same)
}

// numberBy returns the number by which a stripe is that of a key.
func numberBy(key string, stripe int) int {
	if key == oneKey && stripe == 0 || key == cartKey && stripe == 1 {
		return fewStripes
	}
	return moreStripes
}

func TestResizedStripes(t *testing.T) { exploreAlone(t, "resized stripes") }
