package znode

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/protection"
)

// The node names of the recipes, byte for byte those of Apache Curator, so that Go and
// Java services exclude each other on the same path. A node is named
//
//	_c_<uuid>-<kind><number>
//
// where the number has ten digits, or a minus sign and ten digits when the parent's
// 32-bit counter has overflowed.
const (
	// Mutex marks the nodes of a mutex, and of the queue of a semaphore in Curator's
	// layout.
	Mutex = "lock-"
	// Reader and Writer mark those of a read-write lock.
	Reader = "__READ__"
	Writer = "__WRIT__"
	// Latch marks those of a leader election.
	Latch = "latch-"
	// Permit marks the permits of a semaphore.
	Permit = "lease-"
	// Permits marks the nodes of a semaphore with a single queue, which Curator does
	// not have. Between it and the sequence number stand the number of permits and a
	// hyphen.
	Permits = "permits-"
)

// Locks are the kinds that contend for a lock.
var Locks = []string{Mutex, Reader, Writer}

// All are the kinds of all recipes.
var All = []string{Mutex, Reader, Writer, Latch, Permit, Permits}

// A semaphore in Curator's layout has two parents below its path: one for the queue,
// and one for the permits that are held.
const (
	QueueDir   = "locks"
	PermitsDir = "leases"
)

// PermitsOf returns the kind of a node that stands for so many permits.
func PermitsOf(weight int) string { return Permits + strconv.Itoa(weight) + "-" }

// SequenceDigits is the length of a number without sign.
const SequenceDigits = 10

// A Name is the parsed name of a contender's node.
type Name struct {
	// Node is the whole name.
	Node string
	// Kind is the part that says what it contends for.
	Kind string
	// Sequence is its number.
	Sequence int32
	// Weight is how many permits a node of kind Permits stands for.
	Weight int
}

// Parse parses a node's name. The node contends if its name ends in one of the kinds
// and a number. What is before that does not matter: nodes of other clients, with other
// or no protection ids, contend as well, and to ignore one could grant twice.
func Parse(node string, kinds ...string) (Name, bool) {
	for _, kind := range kinds {
		at := strings.LastIndex(node, kind)
		if at < 0 {
			continue
		}
		rest, weight := node[at+len(kind):], 0
		if kind == Permits {
			if rest, weight = cutWeight(rest); weight == 0 {
				continue
			}
		}
		if n, ok := parseSequence(rest); ok {
			return Name{Node: node, Kind: kind, Sequence: n, Weight: weight}, true
		}
	}
	return Name{}, false
}

// Contends reports whether a node of that path contends, by its name.
func Contends(node string) bool {
	_, ok := Parse(path.Base(node), All...)
	return ok
}

// ParseWhole parses the name of a node that a recipe has made, ours or Curator's:
// unlike with Parse, nothing is before the protection id, nor between it and the kind.
func ParseWhole(node string, kinds ...string) (Name, bool) {
	name, ok := Parse(node, kinds...)
	if !ok {
		return Name{}, false
	}
	if _, ok := protection.Of(node); !ok || strings.LastIndex(node, name.Kind) != protection.Before {
		return Name{}, false
	}
	return name, true
}

// cutWeight cuts off the number of permits, 0 if there is none.
func cutWeight(s string) (rest string, weight int) {
	digits, rest, found := strings.Cut(s, "-")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !found || err != nil || strconv.FormatUint(n, 10) != digits {
		return s, 0
	}
	return rest, int(n)
}

func parseSequence(s string) (int32, bool) {
	digits := strings.TrimPrefix(s, "-")
	if len(digits) != SequenceDigits || strings.ContainsFunc(digits, func(d rune) bool { return d < '0' || d > '9' }) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err == nil
}

// Ordered reports whether the number orders the node by its creation. The counter of a
// parent ends at 2147483647: ZooKeeper then repeats that number, or, for requests under
// way at the same time, goes on with negative ones.
func (n Name) Ordered() bool { return n.Sequence >= 0 && n.Sequence < math.MaxInt32 }

// Before reports whether n is ahead of other. Nodes that are not Ordered are behind all
// others: we grant nothing on them, but other clients may have made some. Equal numbers
// are ordered by name, so that all clients agree.
func (n Name) Before(other Name) bool { return Compare(n, other) < 0 }

// SharesPosition reports whether two nodes have the same position: a writer's, and that
// of the reader that it becomes.
func (n Name) SharesPosition(other Name) bool {
	lock := func(kind string) bool { return kind == Reader || kind == Writer }
	return n.Ordered() && n.Sequence == other.Sequence && lock(n.Kind) && lock(other.Kind)
}

// Contenders returns the contenders of the given kinds in a listing, in order.
func Contenders(children []string, kinds ...string) []Name {
	names, _ := Split(children, kinds...)
	return names
}

// Split returns the contenders of the given kinds in a listing, in order, and the other
// children.
func Split(children []string, kinds ...string) (names []Name, others []string) {
	names = make([]Name, 0, len(children))
	for _, child := range children {
		if name, ok := Parse(child, kinds...); ok {
			names = append(names, name)
		} else {
			others = append(others, child)
		}
	}
	slices.SortFunc(names, Compare)
	return names, others
}

// Compare orders names as Before does, for slices.SortFunc.
func Compare(a, b Name) int {
	switch {
	case a.Ordered() && !b.Ordered():
		return -1
	case b.Ordered() && !a.Ordered():
		return 1
	case a.Sequence != b.Sequence:
		return cmp.Compare(a.Sequence, b.Sequence)
	}
	return strings.Compare(a.Node, b.Node)
}
