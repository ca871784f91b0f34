package queue

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Self describes this process. The label is by default the program's name. Since is not
// set.
func Self(who string) lease.Holder {
	host, _ := os.Hostname() // unknown is as good as no name
	if who == "" {
		who = os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:]
	}
	return lease.Holder{Who: who, Host: host, PID: os.Getpid()}
}

// DataOf returns the data of a holder's nodes, for Queue.Data.
func DataOf(h lease.Holder) func() []byte {
	h.Since = time.Time{}
	b, _ := json.Marshal(h) // strings and a number never fail
	b = b[:len(b)-1]        // without the brace at the end
	if h != (lease.Holder{}) {
		b = append(b, ',')
	}
	before := string(b) + `"since":"`
	return func() []byte {
		b := append(make([]byte, 0, len(before)+len(time.RFC3339Nano)+2), before...)
		b = time.Now().UTC().Truncate(time.Millisecond).AppendFormat(b, time.RFC3339Nano)
		return append(b, `"}`...)
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

// holderOf reads the data of a node. That of a contender in an election is its id.
func holderOf(node string, data []byte) lease.Holder {
	if _, latch := znode.Parse(node, znode.Latch); latch {
		return lease.Holder{Who: string(znode.Unmarked(data))}
	}
	return ParseHolder(data)
}
