package contend

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// SlotCount is how many paths can be checked at once.
const SlotCount = 256

// slotBytes keeps counters apart in the processor's cache.
const slotBytes = 64

// Slots are counters in a file that several processes have in memory. A holder adds to
// the counter of its path while it holds: what it finds there tells whether another
// holds, too.
type Slots struct {
	memory     []byte
	violations atomic.Int64
}

// OpenSlots makes or opens the counters in a file.
func OpenSlots(name string) (*Slots, error) {
	file, err := os.OpenFile(filepath.Clean(name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := file.Truncate(SlotCount * slotBytes); err != nil {
		return nil, err
	}
	memory, err := syscall.Mmap(int(file.Fd()), 0, SlotCount*slotBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	return &Slots{memory: memory}, nil
}

func (s *Slots) at(i int) *int64 {
	return (*int64)(unsafe.Pointer(&s.memory[i*slotBytes])) //nolint:gosec // of a length that is checked by the index
}

// newest is the token of the last holder, which stands behind the counter.
func (s *Slots) newest(i int) *int64 {
	return (*int64)(unsafe.Pointer(&s.memory[i*slotBytes+8])) //nolint:gosec // as above
}

// Clear sets all counters to zero: a process that was killed may have left its own.
func (s *Slots) Clear() {
	for i := range SlotCount {
		atomic.StoreInt64(s.at(i), 0)
		atomic.StoreInt64(s.newest(i), 0)
	}
}

// A writer adds so much that any number of readers is less.
const writer = 1 << 32

// enter and leave are what a holder does with the counter of its path.
func (s *Slots) enter(slot int, kind string) {
	if now := atomic.AddInt64(s.at(slot), weight(kind)); !allowed(kind, now) {
		s.violations.Add(1)
	}
}

func (s *Slots) leave(slot int, kind string) { atomic.AddInt64(s.at(slot), -weight(kind)) }

// hold does both. Where time does not matter it dwells: a hold that takes no time is
// seldom seen by another. Of holders that exclude each other the token has to grow: it
// is the transaction of their nodes, so they hold in the order of the queue.
func (s *Slots) hold(slot int, kind string, token int64, dwell time.Duration) {
	s.enter(slot, kind)
	if kind == "mutex" && token != 0 && atomic.SwapInt64(s.newest(slot), token) >= token {
		s.violations.Add(1)
	}
	if dwell > 0 {
		time.Sleep(dwell)
	}
	s.leave(slot, kind)
}

func weight(kind string) int64 {
	if kind == "write" {
		return writer
	}
	return 1
}

// allowed tells whether a holder of a kind may find its counter so, itself included.
func allowed(kind string, now int64) bool {
	switch kind {
	case "semaphore":
		return now <= permits
	case "read":
		return now < writer
	case "write":
		return now == writer
	}
	return now == 1
}
