package interop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stay is a time in which a contender certainly held something, from one reading to
// another of a clock that all processes share.
type stay struct {
	Process string // such as "java-2", the second Java process
	Who     string // such as "java-0", the contender in it
	Kind    string
	Hold    int64 // its number in the process
	Under   int64 // the hold of which this is a downgrade, or 0
	Permits int
	Node    string
	Token   int64
	Locks   []string // where a contest has several
	Tokens  []int64  // of these

	Asked, From, Until int64

	Lost   bool // the holder was notified of the loss
	Killed bool // the holder was killed while it held
}

func (s stay) String() string {
	end := map[bool]string{s.Lost: " lost", s.Killed: " killed"}[true]
	return fmt.Sprintf("%s in %s: %s%s of %d, token %d, node %s, asked at %v, held from %v to %v%s", s.Who, s.Process, s.Kind,
		map[bool]string{true: " after write"}[s.Under != 0], s.Permits, s.Token, s.Node, time.Duration(s.Asked), time.Duration(s.From),
		time.Duration(s.Until), end)
}

// A rule says which contenders may hold something together: those whose weights do not
// exceed the capacity.
type rule struct {
	capacity int
	weight   func(stay) int
}

// alone is the rule of mutexes and leaders.
var alone = rule{1, func(stay) int { return 1 }}

// sharedByReaders is the rule of read-write locks.
var sharedByReaders = rule{1 << 20, func(s stay) int {
	if s.Kind == "write" {
		return 1 << 20
	}
	return 1
}}

// permits is the rule of a semaphore.
func permits(size int) rule { return rule{size, func(s stay) int { return s.Permits }} }

// breaches describes how a history breaks a rule: stays that must not overlap, and
// tokens that do not grow.
func breaches(history []stay, r rule) (found []string) {
	for _, stays := range perLock(withoutDowngrades(history)) {
		slices.SortFunc(stays, func(a, b stay) int { return cmp.Compare(a.From, b.From) })
		found = append(found, crowds(stays, r)...)
		found = append(found, unordered(stays, r)...)
		found = append(found, unorderedInTime(stays)...)
	}
	return found
}

// perLock returns the stays at each lock. That of a multi-lock counts at each of its
// locks, with the token that it has there.
func perLock(history []stay) map[string][]stay {
	stays := map[string][]stay{}
	for _, s := range history {
		if len(s.Locks) == 0 {
			stays[""] = append(stays[""], s)
		}
		for i, lock := range s.Locks {
			one := s
			one.Node, one.Token = lock, s.Tokens[i]
			stays[lock] = append(stays[lock], one)
		}
	}
	return stays
}

// withoutDowngrades makes each read lease of a downgrade begin at the end of its write
// lease: until then they have the same holder.
//
// Curator before 5.5 puts such a reader at the end of the queue, so that earlier
// waiting writers do not wait for it (CURATOR-621). Such a stay counts only until the
// first of them writes.
func withoutDowngrades(history []stay) []stay {
	written := map[string]int64{}
	for _, s := range history {
		if s.Kind == "write" {
			written[fmt.Sprint(s.Process, s.Hold)] = s.Until
		}
	}
	var stays []stay
	for _, s := range history {
		if until, ok := written[fmt.Sprint(s.Process, s.Under)]; ok && s.Under != 0 {
			s.From = max(s.From, until+1)
			for _, w := range history {
				if w.Kind == "write" && w.From > until && w.sequence() < s.sequence() {
					s.Until = min(s.Until, w.From-1)
				}
			}
		}
		if s.From <= s.Until {
			stays = append(stays, s)
		}
	}
	return stays
}

// sequence is the number that the server gave the node, in ten digits.
func (s stay) sequence() string { return s.Node[max(len(s.Node)-10, 0):] }

// crowds returns the stays that exceed the capacity together.
func crowds(stays []stay, r rule) (found []string) {
	var present []stay
	for _, s := range stays {
		present = slices.DeleteFunc(present, func(p stay) bool { return p.Until < s.From })
		present = append(present, s)
		sum := 0
		for _, p := range present {
			sum += r.weight(p)
		}
		if sum > r.capacity {
			found = append(found, "too many at once: "+lines(present))
		}
	}
	return found
}

// unordered returns, of stays that exclude each other, the later ones with the smaller
// token. A downgraded writer keeps its token.
func unordered(stays []stay, r rule) (found []string) {
	greatest := map[int]stay{} // by weight
	for _, s := range stays {
		own := r.weight(s)
		for weight, before := range greatest {
			if weight+own > r.capacity && (before.Token > s.Token || before.Token == s.Token && s.Under == 0) {
				found = append(found, "tokens do not grow: "+lines([]stay{before, s}))
			}
		}
		if before, ok := greatest[own]; !ok || before.Token < s.Token {
			greatest[own] = s
		}
	}
	return found
}

// unorderedInTime returns stays whose token is not greater than that of a stay that had
// ended before they were requested.
func unorderedInTime(stays []stay) (found []string) {
	ended, asked := slices.Clone(stays), slices.Clone(stays)
	slices.SortFunc(ended, func(a, b stay) int { return cmp.Compare(a.Until, b.Until) })
	slices.SortFunc(asked, func(a, b stay) int { return cmp.Compare(a.Asked, b.Asked) })
	var greatest stay
	for _, s := range asked {
		for len(ended) > 0 && ended[0].Until < s.Asked {
			if ended[0].Token > greatest.Token {
				greatest = ended[0]
			}
			ended = ended[1:]
		}
		if greatest.Token >= s.Token {
			found = append(found, "requested later, with a smaller token: "+lines([]stay{greatest, s}))
		}
	}
	return found
}

func lines(stays []stay) string {
	var b strings.Builder
	for _, s := range stays {
		b.WriteString("\n\t" + s.String())
	}
	return b.String()
}

func TestBreaches(t *testing.T) {
	held := func(token, from, until int64) stay {
		return stay{
			Process: "go-1", Who: "go-0", Kind: "mutex", Permits: 1, Hold: token, Token: token, Node: fmt.Sprintf("x-%010d", token),
			Asked: from - 1, From: from, Until: until,
		}
	}
	as := func(kind string, s stay) stay { s.Kind = kind; return s }
	of := func(permits int, s stay) stay { s.Permits = permits; return s }
	after := func(hold int64, s stay) stay { s.Under = hold; s.Kind = "read"; return s }
	asked := func(at int64, s stay) stay { s.Asked = at; return s }
	on := func(s stay, locks ...string) stay {
		s.Locks = locks
		for i := range locks {
			s.Tokens = append(s.Tokens, s.Token+int64(i))
		}
		return s
	}
	at := func(number int, s stay) stay { s.Node = fmt.Sprintf("x-%010d", number); return s }
	write, read := func(s stay) stay { return as("write", s) }, func(s stay) stay { return as("read", s) }
	for name, c := range map[string]struct {
		rule    rule
		history []stay
		want    []string
	}{
		"one after the other":     {alone, []stay{held(2, 30, 40), held(1, 10, 20)}, nil},
		"two at once":             {alone, []stay{held(1, 10, 20), held(2, 20, 30)}, []string{"too many"}},
		"one inside the other":    {alone, []stay{held(1, 10, 90), held(2, 20, 30)}, []string{"too many"}},
		"a long one after many":   {alone, []stay{held(1, 10, 90), held(2, 20, 30), held(3, 80, 85)}, []string{"too many", "too many"}},
		"an old token":            {alone, []stay{held(2, 10, 20), held(1, 30, 40)}, []string{"do not grow", "smaller token"}},
		"the same token":          {alone, []stay{held(2, 10, 20), held(2, 30, 40)}, []string{"do not grow", "smaller token"}},
		"readers together":        {sharedByReaders, []stay{read(held(1, 10, 50)), read(held(2, 20, 40))}, nil},
		"readers in either order": {sharedByReaders, []stay{asked(1, read(held(2, 10, 20))), asked(2, read(held(1, 30, 40)))}, nil},
		"a writer with a reader":  {sharedByReaders, []stay{read(held(1, 10, 50)), write(held(2, 20, 40))}, []string{"too many"}},
		"a reader with a writer":  {sharedByReaders, []stay{write(held(1, 10, 50)), read(held(2, 20, 40))}, []string{"too many"}},
		"a downgrade":             {sharedByReaders, []stay{write(held(1, 10, 50)), after(1, asked(9, held(1, 40, 70)))}, nil},
		"a writer in a downgrade": {sharedByReaders, []stay{write(held(1, 10, 50)), after(1, asked(9, held(1, 40, 70))), write(held(3, 60, 80))}, []string{"too many"}},
		"one that Curator admits": {sharedByReaders, []stay{write(held(1, 10, 50)), at(5, after(1, asked(9, held(1, 40, 70)))), write(held(3, 60, 80))}, nil},
		"and one it should not":   {sharedByReaders, []stay{write(held(1, 10, 50)), at(2, after(1, asked(9, held(1, 40, 70)))), write(held(3, 60, 80))}, []string{"too many"}},
		"reads with another":      {sharedByReaders, []stay{write(held(1, 10, 50)), after(7, asked(9, held(2, 40, 70)))}, []string{"too many"}},
		"a writer's token is old": {sharedByReaders, []stay{read(held(3, 10, 20)), asked(1, write(held(2, 30, 40)))}, []string{"do not grow"}},
		"as many as the capacity": {permits(3), []stay{of(2, held(1, 10, 50)), held(2, 20, 40)}, nil},
		"a permit too many":       {permits(3), []stay{of(2, held(1, 10, 50)), of(2, held(2, 20, 40))}, []string{"too many"}},
		"late with an old token":  {permits(3), []stay{held(2, 10, 20), held(1, 30, 40)}, []string{"smaller token"}},
		"on one lock each":        {alone, []stay{on(held(2, 10, 50), "a"), on(held(1, 20, 40), "b")}, nil},
		"on one of several":       {alone, []stay{on(held(1, 10, 50), "a", "b"), on(held(9, 20, 40), "b")}, []string{"too many"}},
		"on several, shifted":     {alone, []stay{on(held(1, 10, 50), "a", "b"), on(held(9, 20, 40), "b", "c")}, []string{"too many"}},
		"an old token of one":     {alone, []stay{on(held(4, 10, 20), "a", "b"), on(held(5, 30, 40), "b")}, []string{"do not grow", "smaller token"}},
		"requested in time":       {permits(3), []stay{held(2, 10, 20), asked(15, held(1, 30, 40))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := breaches(c.history, c.rule)
			require.Len(t, found, len(c.want), "%s", strings.Join(found, "\n"))
			for i, want := range c.want {
				assert.Contains(t, found[i], want)
			}
		})
	}
}
