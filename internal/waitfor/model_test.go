package waitfor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/waitfor"
)

// The layouts of a queue in the model.
const (
	lock    = iota // mutexes, readers and writers; elections
	single         // a semaphore with a single queue
	curator        // a semaphore in Curator's layout: permits, and a queue of those that wait for one
	layouts
)

// A contender of the model.
type contender struct {
	queue  int
	waits  bool
	reader bool
	weight int
	owns   []int // holders
}

// A model is some queues, each with its contenders in order.
type model struct {
	layout  []int
	size    []int
	all     []contender // those of the first queue first
	present int         // a set of these: the others were not seen
}

// newModel makes a random one, of at most 11 contenders.
func newModel(random *rand.Rand) *model {
	m := &model{}
	for q := range 1 + random.IntN(4) {
		m.layout, m.size = append(m.layout, random.IntN(layouts)), append(m.size, random.IntN(4))
		if random.IntN(2) == 0 {
			m.layout[q] = lock
		}
		for range random.IntN(5) {
			if len(m.all) < 11 {
				m.all = append(m.all, contender{queue: q, reader: random.IntN(3) == 0, weight: 1 + random.IntN(2)})
			}
		}
	}
	m.present = 1<<len(m.all) - 1
	for i := range m.all {
		c := &m.all[i]
		c.waits = !m.admitted(i, m.present)
		if m.layout[c.queue] == curator { // permits may have been taken before the size was changed
			c.waits = m.waitsAhead(i) || random.IntN(2) == 0
		}
	}
	for i := range m.all {
		for h := range m.all {
			if m.all[i].waits && !m.all[h].waits && random.IntN(4) == 0 {
				m.all[i].owns = append(m.all[i].owns, h)
			}
		}
	}
	if random.IntN(3) == 0 {
		m.present &= random.Int() | random.Int()
	}
	return m
}

// waitsAhead reports whether one that waits is ahead in the queue.
func (m *model) waitsAhead(i int) bool {
	return slices.ContainsFunc(m.all[:i], func(c contender) bool { return c.queue == m.all[i].queue && c.waits })
}

// admitted is the policy: may one hold beside those that are present?
func (m *model) admitted(i, present int) bool {
	c, sum, permits := m.all[i], 0, 0
	for j, other := range m.all {
		if other.queue != c.queue || present>>j&1 == 0 {
			continue
		}
		if !other.waits {
			permits++
		}
		if j >= i {
			continue
		}
		switch m.layout[c.queue] {
		case lock:
			if !c.reader || !other.reader {
				return false
			}
		case single:
			sum += other.weight
		case curator:
			if other.waits {
				return false
			}
		}
	}
	switch size := m.size[c.queue]; m.layout[c.queue] {
	case single:
		return c.weight > size || sum+c.weight <= size // or it fails, and leaves
	case curator:
		return size < 1 || permits < size
	}
	return true
}

// canGo reports whether one that is present can.
func (m *model) canGo(i, present int) bool {
	if m.all[i].waits {
		return m.admitted(i, present)
	}
	for j, c := range m.all {
		if present>>j&1 == 1 && slices.Contains(c.owns, i) {
			return false
		}
	}
	return true
}

// ends returns what may be left when nobody can go any more, in whatever order they go.
func (m *model) ends() []int {
	ends, seen := map[int]bool{}, map[int]bool{}
	var from func(present int)
	from = func(present int) {
		if seen[present] {
			return
		}
		seen[present] = true
		end := true
		for i := range m.all {
			if present>>i&1 == 1 && m.canGo(i, present) {
				end = false
				from(present &^ (1 << i))
			}
		}
		if end {
			ends[present] = true
		}
	}
	from(m.present)
	var all []int
	for end := range ends {
		all = append(all, end)
	}
	return all
}

// graph describes it for the package.
func (m *model) graph() (queues []*waitfor.Queue, all []*waitfor.Contender) {
	for q, layout := range m.layout {
		queues = append(queues, &waitfor.Queue{Size: 1})
		if layout != lock {
			queues[q].Size = int64(m.size[q])
		}
	}
	for i, c := range m.all {
		q := queues[c.queue]
		in := &waitfor.Contender{ID: i, Waits: c.waits, Takes: 1, Needs: 1}
		switch m.layout[c.queue] {
		case lock:
			in.Shared = c.reader
		case single:
			in.Takes, in.Needs = int64(c.weight), int64(c.weight)
		case curator:
			if c.waits {
				in.Takes = q.Size
			}
		}
		if all = append(all, in); m.present>>i&1 == 1 {
			q.Contenders = append(q.Contenders, in)
		}
	}
	for i, c := range m.all {
		for _, h := range c.owns {
			if m.present>>h&1 == 1 {
				all[i].Owns = append(all[i].Owns, all[h])
			}
		}
	}
	return queues, all
}

// edges are who waits for whom, of those that are left: in a queue, for each holder
// ahead, and readers also for the nearest writer that waits there.
func (m *model) edges(left int) (to [][]int) {
	to = make([][]int, len(m.all))
	for i, c := range m.all {
		nearest := false
		for j, other := range slices.Backward(m.all) {
			if left>>i&1 == 0 || left>>j&1 == 0 {
				continue
			}
			ahead := c.waits && other.queue == c.queue && j < i
			isReader := m.layout[c.queue] == lock && c.reader
			inTheWay := ahead && (!isReader || !other.reader) && (!other.waits || isReader && !nearest)
			nearest = nearest || inTheWay && other.waits
			if inTheWay || !c.waits && slices.Contains(other.owns, i) {
				to[i] = append(to[i], j)
			}
		}
	}
	return to
}

func (m *model) String() string {
	var text strings.Builder
	for i, c := range m.all {
		what := map[bool]string{true: "waits", false: "holds"}[c.waits]
		fmt.Fprintf(&text, "%d %s at queue %d (layout %d, size %d), reader %v, weight %d, owns %v\n",
			i, what, c.queue, m.layout[c.queue], m.size[c.queue], c.reader, c.weight, c.owns)
	}
	return text.String()
}
