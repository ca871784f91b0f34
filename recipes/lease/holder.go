package lease

import (
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A Holder is what a contender says about itself. The data of its znode is this in
// JSON, with the same field names in all versions.
type Holder struct {
	// Who is a label; by default the program's name.
	Who string `json:"who,omitempty"`
	// Host is the machine's name.
	Host string `json:"host,omitempty"`
	// PID is the process's id there.
	PID int `json:"pid,omitempty"`
	// Since is when it began to wait, by its own clock.
	Since time.Time `json:"since,omitzero"`
}

// String returns "who (host, pid 1, since 2026-01-02T03:04:05Z)", or "" for the zero
// Holder. The fields are what was written, possibly by an unrelated client. In the
// text, what is not printable is escaped, as in a Go string, and what is too long is
// cut.
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
