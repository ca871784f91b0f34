package queue

import (
	"math"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
)

// The node names of the recipes, byte for byte those of Apache Curator, so that
// Go and Java services exclude each other on the same path. A node is named
//
//	_c_<uuid>-<kind><number>
//
// where the number has ten digits, or a minus sign and ten digits when the parent's
// 32-bit counter has overflowed.
const (
	// MutexName marks the nodes of a mutex, and of a semaphore's door.
	MutexName = "lock-"
	// ReadName and WriteName mark those of a read-write lock.
	ReadName  = "__READ__"
	WriteName = "__WRIT__"
	// LatchName marks those of a leader election.
	LatchName = "latch-"
	// LeaseName marks the permits of a semaphore.
	LeaseName = "lease-"
	// PermitsName marks the nodes of a semaphore with a single queue, which Curator
	// does not have. Between it and the sequence number stand the number of permits
	// and a hyphen.
	PermitsName = "permits-"
)

// LockNames are the kinds that contend for a lock.
var LockNames = []string{MutexName, ReadName, WriteName}

// AllNames are the kinds of all recipes.
var AllNames = []string{MutexName, ReadName, WriteName, LatchName, LeaseName, PermitsName}

// A semaphore of Curator's layout has two parents below its path: for the door,
// where all wait, and for the permits that are taken.
const (
	DoorNode   = "locks"
	LeasesNode = "leases"
)

// PermitsNameFor returns what to call a node that stands for so many permits.
func PermitsNameFor(weight int) string { return PermitsName + strconv.Itoa(weight) + "-" }

// sequenceDigits is the length of a number without sign.
const sequenceDigits = 10

// A Name is the parsed name of a contender's node.
type Name struct {
	// Node is the whole name.
	Node string
	// Kind is the part that says what it contends for.
	Kind string
	// Sequence is its number.
	Sequence int32
	// Weight is how many permits a node called PermitsName stands for.
	Weight int
}

// Parse takes a node's name apart. It is no contender's of any of the kinds if
// the name does not end in one of them and a number. What stands before is
// anybody's: nodes of other clients, with other or no protection ids, contend as
// well, and to overlook one would grant twice.
func Parse(node string, kinds ...string) (Name, bool) {
	for _, kind := range kinds {
		at := strings.LastIndex(node, kind)
		if at < 0 {
			continue
		}
		rest, weight := node[at+len(kind):], 0
		if kind == PermitsName {
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

// ParseWhole takes the name of a node apart that a recipe has made, ours or one of
// Curator's: unlike with Parse, nothing stands before the protection id, and nothing
// between it and the kind.
func ParseWhole(node string, kinds ...string) (Name, bool) {
	name, ok := Parse(node, kinds...)
	if !ok {
		return Name{}, false
	}
	const before = len("_c_") + 36 + len("-")
	if _, ok := framework.ProtectionOf(node); !ok || strings.LastIndex(node, name.Kind) != before {
		return Name{}, false
	}
	return name, true
}

// cutWeight takes the number of permits off, which is 0 if there is none.
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
	if len(digits) != sequenceDigits {
		return 0, false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err == nil
}

// ordered reports whether the number says when the node was made. The counter of a
// parent ends at 2147483647: ZooKeeper then repeats that number, or, for requests
// under way at the same time, goes on with negative ones.
func (n Name) ordered() bool { return n.Sequence >= 0 && n.Sequence < math.MaxInt32 }

// Before reports whether n is ahead of other. Nodes whose number says nothing are
// behind all others. Nobody of us is ever granted on such a node, but others may
// have made some. Equal numbers are ordered by name, so that all agree.
func (n Name) Before(other Name) bool {
	if n.ordered() != other.ordered() {
		return n.ordered()
	}
	if n.Sequence != other.Sequence {
		return n.Sequence < other.Sequence
	}
	return n.Node < other.Node
}

// beside reports whether two nodes have one place in line: that of a writer, and of
// the reader that it becomes.
func (n Name) beside(other Name) bool {
	lock := func(kind string) bool { return kind == ReadName || kind == WriteName }
	return n.ordered() && n.Sequence == other.Sequence && lock(n.Kind) && lock(other.Kind)
}
