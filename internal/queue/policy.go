package queue

import "github.com/zkrecipes/zkrecipes/internal/znode"

// A Policy decides on a contender. ahead are those before self, nearest last; size
// is the recipe's size, where it has one. It returns nothing if self is admitted,
// and otherwise some of those ahead, of which at least one must go before self can
// be.
//
// It must be a pure function, and must not admit earlier for more contenders
// ahead. Then nobody waits for ever: those it names are ahead, so waiting
// relations have no cycles, and one of them goes before self is admitted, so no
// wake-up is missed.
type Policy func(self znode.Name, ahead []znode.Name, size int) (wait []znode.Name)

// InLine is the policy of locks. Readers wait for the nearest of those ahead that
// are no readers, everybody else for the nearest ahead. So a release wakes one
// waiter, or the readers that it admits.
func InLine(self znode.Name, ahead []znode.Name, _ int) (wait []znode.Name) {
	if self.Kind != znode.Reader {
		return ahead[max(len(ahead)-1, 0):]
	}
	for i := len(ahead) - 1; i >= 0; i-- {
		if ahead[i].Kind != znode.Reader {
			return ahead[i : i+1]
		}
	}
	return nil
}

// All admits everybody.
func All(znode.Name, []znode.Name, int) (wait []znode.Name) { return nil }

// Permits admits those whose weights, with the weights of all ahead, do not exceed
// the size. Everybody else waits for the nearest ones ahead that are already too
// heavy for it: while all of those stand it cannot be admitted. Whoever is too heavy
// even alone waits for itself.
func Permits(self znode.Name, ahead []znode.Name, size int) (wait []znode.Name) {
	if self.Weight > size {
		return []znode.Name{self}
	}
	room := size - self.Weight // a sum could overflow where an int has 32 bits
	for i := len(ahead) - 1; i >= 0; i-- {
		if ahead[i].Weight > room {
			return ahead[i:]
		}
		room -= ahead[i].Weight
	}
	return nil
}

// admittedWithout reports whether self is admitted now that one of those ahead has
// gone, without another look: nothing can get in line before a node that exists.
// There is one exception. A holder of a write lock can have put a reader in its
// own place before it went, for which a writer has to look.
func (q *Queue) admittedWithout(gone, self znode.Name, ahead []znode.Name, size int) bool {
	if gone.Kind == znode.Writer && self.Kind != znode.Reader {
		return false
	}
	rest := make([]znode.Name, 0, len(ahead))
	for _, name := range ahead {
		if name.Node != gone.Node {
			rest = append(rest, name)
		}
	}
	return len(q.cfg.Policy(self, rest, size)) == 0
}
