package lease

import (
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A Holder is what a contender says about itself in the data of its znode, which is
// this in JSON: the names there are those that the znodes of all versions have.
type Holder struct {
	// Who is a label; by default the program's name.
	Who string `json:"who,omitempty"`
	// Host is the machine's name.
	Host string `json:"host,omitempty"`
	// PID is the process's id there.
	PID int `json:"pid,omitempty"`
	// Since is the time by its own clock at which it began to wait.
	Since time.Time `json:"since,omitzero"`
}

// String returns "who (host, pid 1, since 2026-01-02T03:04:05Z)", or "" for the zero
// Holder. Anybody may have written that: what is not printable is escaped, as Go does
// in a string, and what is too long is cut. The fields are what was written.
func (h Holder) String() string {
	if h == (Holder{}) {
		return ""
	}
	if h.Host == "" && h.PID == 0 {
		return quote.Brief(h.Who)
	}
	s := fmt.Sprintf("%s (%s, pid %d", quote.Brief(h.Who), quote.Brief(h.Host), h.PID)
	if !h.Since.IsZero() {
		s += ", since " + h.Since.Format(time.RFC3339)
	}
	return s + ")"
}
