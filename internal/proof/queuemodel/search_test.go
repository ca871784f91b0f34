package queuemodel

import (
	"encoding/binary"
	"math/bits"
	"runtime/debug"
	"slices"
	"unsafe"
)

// A result says how many states a search has found, and what must not happen, with the
// steps that lead to it.
type result struct {
	states    int
	violation string
	trace     []string
}

// An origin is where a state was found: by which step, from which state.
type origin struct {
	state uint32
	step  uint16
}

// search goes through all states of a scenario, breadth first, until something happens
// that must not, or there are more than most. From one of sampled states it goes on
// with what happens by itself.
func (s *scenario) search(most int) result {
	const sampled = 100
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // little of what it allocates is garbage
	m := s.start()
	begin := m.state
	var seen hashes
	var open states
	seen.add(hash(&begin))
	open.push(&begin)
	origins := []origin{{}}
	var keys []uint64 // of the states that come next
	for at := 0; open.pop(&m.state) && len(origins) <= most; at++ {
		stuck := true
		all := m.possible()
		keys = keys[:0]
		for k := range all {
			keys = append(keys, hash(&all[k].to))
		}
		seen.touch(keys)
		for k := range all {
			next := &all[k]
			stuck = stuck && !next.byItself
			if next.violation != "" {
				last := *next // trace overwrites what is possible
				return result{len(origins), last.violation, append(m.trace(begin, origins, at), last.String())}
			}
			if seen.add(keys[k]) {
				origins = append(origins, origin{uint32(at), uint16(k)})
				open.push(&next.to)
			}
		}
		violation := ""
		if stuck {
			violation = m.stuck()
		} else if at%sampled == 0 {
			violation = m.runsOn()
		}
		if violation != "" {
			return result{len(origins), violation, m.trace(begin, origins, at)}
		}
	}
	return result{states: len(origins)}
}

// trace returns the steps that lead to a state.
func (m *model) trace(begin state, origins []origin, to int) (texts []string) {
	var path []uint16
	for ; to > 0; to = int(origins[to].state) {
		path = append(path, origins[to].step)
	}
	m.state = begin
	for _, k := range slices.Backward(path) {
		step := m.possible()[k]
		texts = append(texts, step.String())
		m.state = step.to
	}
	return texts
}

// hash returns 64 bits for a state. Two of a few million states have the same ones with
// a probability of about one in a million; then one is not searched.
func hash(s *state) uint64 {
	var rest [16]byte
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))
	const odd = 0xd6e8feb86659fd93
	h := uint64(0x9e3779b97f4a7c15)
	for ; len(bytes) >= 16; bytes = bytes[16:] {
		h = mix(h^binary.LittleEndian.Uint64(bytes), odd^binary.LittleEndian.Uint64(bytes[8:]))
	}
	copy(rest[:], bytes)
	return max(mix(h^binary.LittleEndian.Uint64(rest[:]), odd^binary.LittleEndian.Uint64(rest[8:])), 1)
}

func mix(x, y uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return high ^ low
}

// hashes is a set of them, open addressed. 0 is a free place.
type hashes struct {
	places  []uint64
	n       int
	touched uint64 // see touch
}

// touch reads the places of some hashes at once, so that add need not wait for the
// memory of one after another.
func (t *hashes) touch(all []uint64) {
	if len(t.places) == 0 {
		return
	}
	mask := uint64(len(t.places) - 1)
	for _, h := range all {
		t.touched ^= t.places[h&mask]
	}
}

func (t *hashes) add(h uint64) (added bool) {
	if 2*t.n >= len(t.places) {
		t.grow()
	}
	mask := uint64(len(t.places) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch t.places[i] {
		case h:
			return false
		case 0:
			t.places[i] = h
			t.n++
			return true
		}
	}
}

func (t *hashes) grow() {
	before := t.places
	t.places, t.n = make([]uint64, max(1<<12, 2*len(before))), 0
	for _, h := range before {
		if h != 0 {
			t.add(h)
		}
	}
}

// states is a queue of them, in blocks that are used again.
type states struct {
	blocks []*[1 << 10]state
	taken  int // from the first block
	n      int
}

func (q *states) push(s *state) {
	at := q.taken + q.n
	if at>>10 == len(q.blocks) {
		q.blocks = append(q.blocks, &[1 << 10]state{})
	}
	q.blocks[at>>10][at&(1<<10-1)] = *s
	q.n++
}

func (q *states) pop(s *state) bool {
	if q.n == 0 {
		return false
	}
	*s = q.blocks[0][q.taken]
	q.n--
	if q.taken++; q.taken == 1<<10 {
		q.blocks, q.taken = append(q.blocks[1:], q.blocks[0]), 0
	}
	return true
}
