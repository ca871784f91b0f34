package histories

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// The models describe the recipes as if all operations happened one after the other.
// Their inputs are ops; an op that failed has no effect and is left out. A lease ends
// when it says so itself. Its znode ends later, and until then no other client can be
// granted, but the models do not require that.

// modelOf makes a model from a function on states of one type. The function must not
// change the state that it is given.
func modelOf[S any](first S, step func(S, op) (S, bool), equal func(a, b S) bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, _ any) (bool, any) {
			next, ok := step(state.(S), input.(op))
			return ok, next
		},
		Equal: func(a, b any) bool { return equal(a.(S), b.(S)) },
	}
}

func same[S comparable](a, b S) bool { return a == b }

// exclusive is a mutex, or a leader election: it is free, or held by any number of
// leases with one token.
type exclusive struct {
	token  int64 // the greatest granted
	leases int
}

func exclusiveModel(int) porcupine.Model {
	return modelOf(exclusive{}, func(s exclusive, o op) (exclusive, bool) { return s.step(o.What, o.Token, o.Inner) }, same)
}

func (s exclusive) step(what string, token int64, inner bool) (exclusive, bool) {
	holding := s.leases > 0 && s.token == token
	switch {
	case what == opAcquire && inner && holding:
		return exclusive{s.token, s.leases + 1}, true
	case what == opAcquire && !inner && s.leases == 0 && token > s.token:
		return exclusive{token, 1}, true
	case what == opEnd && holding:
		return exclusive{s.token, s.leases - 1}, true
	case what == opConfirm && holding:
		return s, true
	}
	return s, false
}

// severalModel is two exclusive locks. An op takes effect at one moment on all locks
// that it is on.
func severalModel(int) porcupine.Model {
	return modelOf([2]exclusive{}, func(s [2]exclusive, o op) ([2]exclusive, bool) {
		for _, on := range o.Slots {
			next, ok := s[on.lock].step(o.What, on.token, on.inner)
			if !ok {
				return s, false
			}
			s[on.lock] = next
		}
		return s, true
	}, same)
}

// The sides of a read-write lock.
const (
	read  = "read"
	write = "write"
)

// shared is a read-write lock: at most one writer, and readers, each with any number of
// leases. While there is a writer, only readers that it has become by a downgrade are
// there.
type shared struct {
	writer  claim
	readers []claim // by token
	last    int64   // the greatest token granted
	written int64   // the greatest granted to a writer
}

// A claim is a held slot with the number of its leases.
type claim struct {
	token  int64
	leases int
}

func sharedModel(int) porcupine.Model {
	return modelOf(shared{}, shared.step, shared.equal)
}

func (s shared) step(o op) (shared, bool) {
	if o.Side == write {
		return s.write(o)
	}
	return s.read(o)
}

func (s shared) equal(t shared) bool {
	return s.writer == t.writer && s.last == t.last && s.written == t.written && slices.Equal(s.readers, t.readers)
}

func (s shared) write(o op) (shared, bool) {
	holding := s.writer.leases > 0 && s.writer.token == o.Token
	switch {
	case o.What == opAcquire && o.Inner && holding:
		s.writer.leases++
	case o.What == opAcquire && !o.Inner && s.writer.leases == 0 && len(s.readers) == 0 && o.Token > s.last:
		s.writer, s.last, s.written = claim{o.Token, 1}, o.Token, o.Token
	case o.What == opEnd && holding:
		s.writer.leases--
	case o.What == opConfirm && holding:
	default:
		return s, false
	}
	return s, true
}

func (s shared) read(o op) (shared, bool) {
	at, holding := slices.BinarySearchFunc(s.readers, o.Token, func(c claim, token int64) int { return cmp.Compare(c.token, token) })
	downgrade := s.writer.leases > 0 && s.writer.token == o.Token
	readers := slices.Clone(s.readers)
	switch {
	case o.What == opAcquire && o.Inner && holding:
		readers[at].leases++
	case o.What == opAcquire && o.Inner && downgrade, o.What == opAcquire && !o.Inner && s.writer.leases == 0 && o.Token > s.written:
		readers = slices.Insert(readers, at, claim{o.Token, 1})
		s.last = max(s.last, o.Token)
	case o.What == opEnd && holding:
		if readers[at].leases--; readers[at].leases == 0 {
			readers = slices.Delete(readers, at, at+1)
		}
	case o.What == opConfirm && holding:
	default:
		return s, false
	}
	s.readers = readers
	return s, true
}

// counted is a semaphore: the number of its permits, and how many of them are held.
type counted struct{ size, held int }

func countedModel(size int) porcupine.Model {
	return modelOf(counted{size: size}, counted.step, same)
}

func (s counted) step(o op) (counted, bool) {
	switch {
	case o.What == opAcquire && s.held+o.N <= s.size:
		return counted{s.size, s.held + o.N}, true
	case o.What == opEnd && s.held >= o.N:
		return counted{s.size, s.held - o.N}, true
	case o.What == opConfirm && s.held >= o.N:
		return s, true
	case o.What == opResize:
		return counted{o.N, s.held}, true
	case o.What == opSize && s.size == o.N:
		return s, true
	}
	return s, false
}

// checking is the real time after which a history is left undecided.
const checking = 10 * time.Second

// check checks a history against a model.
func check(model porcupine.Model, history []op) error {
	var ops []porcupine.Operation
	for _, o := range history {
		switch {
		case o.What == opLook, o.What == opFree, o.What == opName:
			continue // these are checked where they happen
		case o.What == opResize && o.Err != nil:
			o.Return = never
		case o.Err != nil && o.What != opEnd:
			continue
		}
		{
			ops = append(ops, porcupine.Operation{ClientId: o.Thread, Input: o, Call: o.Call, Return: o.Return})
		}
	}
	switch porcupine.CheckOperationsTimeout(model, ops, checking) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("model: undecided after %v: %d operations", checking, len(ops))
	case porcupine.Illegal:
	}
	return fmt.Errorf("model: no order of these operations is legal")
}

// table prints a history, in the order of the calls.
func table(history []op) string {
	sorted := slices.Clone(history)
	slices.SortFunc(sorted, func(a, b op) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for _, o := range sorted {
		until := fmt.Sprintf("%-5d %v", o.Return, o.ReturnAt)
		if o.Return == never {
			until = "never"
		}
		fmt.Fprintf(&b, "  %-5d %-14v to %-20s thread %d: %s", o.Call, o.CallAt, until, o.Thread, o.What)
		if o.Side != "" {
			b.WriteString(" " + o.Side)
		}
		if o.N > 0 {
			fmt.Fprintf(&b, " %d", o.N)
		}
		if o.Lease > 0 {
			fmt.Fprintf(&b, " lease %d", o.Lease)
		}
		for _, s := range o.Slots {
			fmt.Fprintf(&b, " token %d", s.token)
			if s.inner {
				b.WriteString(" inner")
			}
		}
		if o.Err != nil {
			fmt.Fprintf(&b, ": %v", o.Err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
