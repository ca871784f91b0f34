package queue

import (
	"path"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Seen is what was last seen of who is in the way, by one place after the other.
type Seen struct {
	// Ahead is the number of contenders ahead; -1 if there was no look.
	Ahead int
	// Head is the path of the first one's node, "" if not known.
	Head string
	// Holder is what that says about itself; zero if not known.
	Holder lease.Holder
	// Unlisted is why the listing behind the create of a node is not known, nil if it
	// is. The next look at the line meets that again, unless the time is up.
	Unlisted error
	// Notified is when a wait for others last ended, if Timed is set. It is zero if
	// there was none.
	Notified time.Time
	// Timed is set if that is asked for.
	Timed bool
}

// Notify records that a wait for others has ended just now.
func (s *Seen) Notify() {
	if s.Timed {
		s.Notified = time.Now()
	}
}

// Record takes down who is ahead, among the children of a node.
func (s *Seen) Record(dir string, ahead []znode.Name) {
	s.Ahead = len(ahead)
	if len(ahead) > 0 && ahead[0].Node != s.HeadNode() {
		s.Head, s.Holder = dir+"/"+ahead[0].Node, lease.Holder{}
	}
}

// HeadNode returns the name of the first one's node, "" if not known.
func (s *Seen) HeadNode() string {
	if s.Head == "" {
		return ""
	}
	return path.Base(s.Head)
}

// OnData takes down what the first one's node says.
func (s *Seen) OnData(data []byte) { s.Holder = holderOf(s.HeadNode(), data) }
