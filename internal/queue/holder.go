package queue

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Holder is what a contender says about itself in the data of its node.
type Holder struct {
	Who   string    `json:"who,omitempty"`  // a label
	Host  string    `json:"host,omitempty"` // the machine
	PID   int       `json:"pid,omitempty"`  // the process
	Since time.Time `json:"since,omitzero"` // when it joined, by its own clock
}

// self describes this process; who is a label, by default the program's name.
// Since is left open.
func self(who string) Holder {
	host, _ := os.Hostname() // unknown is as good as no name
	if who == "" {
		who = os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:]
	}
	return Holder{Who: who, Host: host, PID: os.Getpid()}
}

// encodeNow returns the data of a node that is created now.
func (h Holder) encodeNow() []byte {
	h.Since = time.Now().UTC().Truncate(time.Millisecond)
	b, _ := json.Marshal(h) // strings, a number and a time always can be
	return b
}

// ParseHolder reads a node's data; what other clients write there, such as an
// address or nothing, gives a zero Holder. So does a time alone: it tells of nobody.
func ParseHolder(data []byte) Holder {
	var h Holder
	if json.Unmarshal(znode.Unmarked(data), &h) != nil || (h.Who == "" && h.Host == "" && h.PID == 0) {
		return Holder{}
	}
	return h
}

// holderOf reads the data of a node of that kind. That of a participant in an
// election is its id.
func holderOf(kind string, data []byte) Holder {
	if kind == znode.Latch {
		return Holder{Who: string(znode.Unmarked(data))}
	}
	return ParseHolder(data)
}

// String returns "who (host, pid 1, since 2026-01-02T03:04:05Z)". Anybody may have
// written that: what is not printable is escaped, and what is too long is cut.
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
