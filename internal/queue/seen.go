package queue

import (
	"time"

	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Seen is what the last listing showed of the contenders ahead. The positions of one
// acquire share it.
type Seen struct {
	// Ahead is the number of contenders ahead; -1 if there was no listing.
	Ahead int
	// Head is the name of the first of them, "" if unknown, and Dir the path of its
	// parent.
	Dir, Head string
	// Holder is what its data say; nil if unknown.
	Holder *lease.Holder
	// Waited says that there were contenders ahead.
	Waited bool
	// Measured gets what observers are told; nil if there are none.
	Measured *Measured
}

// A Measured is what observers are told of an acquire.
type Measured struct {
	// Notified is when a wait for others last ended, in the present session.
	Notified time.Time
	// Waited says that there was one, maybe in another session.
	Waited bool
	// Ahead is the greatest number of contenders ahead; -1 if none is known.
	Ahead int
}

// Notify records that a wait for others has ended just now.
func (s *Seen) Notify() {
	if s.Measured != nil {
		s.Measured.Notified, s.Measured.Waited = time.Now(), true
	}
}

// RecordMore records that there are more contenders ahead, behind those of Record.
func (s *Seen) RecordMore(ahead int) {
	s.Ahead += ahead
	s.measure(s.Ahead)
}

// Record records the contenders ahead, among the children of a node.
func (s *Seen) Record(dir string, ahead []znode.Name) {
	head := ""
	if len(ahead) > 0 {
		head = ahead[0].Node
	}
	s.record(dir, len(ahead), head)
}

// record records how many contenders are ahead, and the first of them.
func (s *Seen) record(dir string, ahead int, head string) {
	s.Ahead, s.Waited = ahead, s.Waited || ahead > 0
	s.measure(ahead)
	if ahead > 0 && head != s.Head {
		s.Dir, s.Head, s.Holder = dir, head, nil
	}
}

// measure has observers told how many contenders are ahead.
func (s *Seen) measure(ahead int) {
	if s.Measured != nil {
		s.Measured.Ahead = max(s.Measured.Ahead, ahead)
	}
}

// OnData records the data of the first node.
func (s *Seen) OnData(data []byte) {
	holder := HolderOf(s.Head, data)
	s.Holder = &holder
}
