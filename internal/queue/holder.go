package queue

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Process is this process as a contender, under a label.
type Process struct {
	// Holder describes it. Since is not set.
	Holder lease.Holder
	// Data returns the data of its nodes, for Queue.Data.
	Data func(ctx context.Context) []byte

	label string
}

// latest is what Self returned last: as a rule all locks of a process have one label.
var latest atomic.Pointer[Process]

// Self describes this process. The label is by default the program's name.
func Self(label string) *Process {
	if p := latest.Load(); p != nil && p.label == label {
		return p
	}
	host, _ := os.Hostname() // unknown is as good as no name
	who := label
	if who == "" {
		who = os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:]
	}
	h := lease.Holder{Who: who, Host: host, PID: os.Getpid()}
	p := &Process{Holder: h, Data: dataOf(h), label: label}
	latest.Store(p)
	return p
}

// dataOf returns the data of a holder's nodes.
func dataOf(h lease.Holder) func(context.Context) []byte {
	b, _ := json.Marshal(h) // strings and a number never fail
	b = b[:len(b)-1]        // without the brace at the end
	if h != (lease.Holder{}) {
		b = append(b, ',')
	}
	before := string(b) + `"since":"`
	return func(ctx context.Context) []byte {
		b := append(make([]byte, 0, len(before)+len(time.RFC3339Nano)+2), before...)
		b = time.Now().UTC().Truncate(time.Millisecond).AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
		if owned := ownedBy(ctx); !owned.isZero() {
			more, _ := json.Marshal(owned)
			b = append(append(b, ','), more[1:len(more)-1]...)
		}
		return append(b, '}')
	}
}

// ParseHolder reads a node's data. It returns a zero Holder for what other clients
// write there, such as an address or nothing. A timestamp alone identifies no holder.
func ParseHolder(data []byte) lease.Holder {
	var h lease.Holder
	if json.Unmarshal(znode.Unmarked(data), &h) != nil || (h.Who == "" && h.Host == "" && h.PID == 0) {
		return lease.Holder{}
	}
	return h
}

// HolderOf reads the data of a node. That of a contender in an election is its id.
func HolderOf(node string, data []byte) lease.Holder {
	if _, latch := znode.Parse(node, znode.Latch); latch {
		return lease.Holder{Who: string(znode.Unmarked(data))}
	}
	return ParseHolder(data)
}
