package queue

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Self describes this process; who is a label, by default the program's name. Since is
// left open.
func Self(who string) lease.Holder {
	host, _ := os.Hostname() // unknown is as good as no name
	if who == "" {
		who = os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:]
	}
	return lease.Holder{Who: who, Host: host, PID: os.Getpid()}
}

// DataOf returns what the nodes of a holder say, for Queue.Data.
func DataOf(h lease.Holder) func() []byte { return func() []byte { return encodeNow(h) } }

// encodeNow returns what a node that is created now says about its holder.
func encodeNow(h lease.Holder) []byte {
	h.Since = time.Now().UTC().Truncate(time.Millisecond)
	b, _ := json.Marshal(h) // strings, a number and a time always can be
	return b
}

// ParseHolder reads a node's data; what other clients write there, such as an address
// or nothing, gives a zero Holder. So does a time alone: it tells of nobody.
func ParseHolder(data []byte) lease.Holder {
	var h lease.Holder
	if json.Unmarshal(znode.Unmarked(data), &h) != nil || (h.Who == "" && h.Host == "" && h.PID == 0) {
		return lease.Holder{}
	}
	return h
}

// holderOf reads the data of a node. That of a participant in an election is its id.
func holderOf(node string, data []byte) lease.Holder {
	if _, latch := znode.Parse(node, znode.Latch); latch {
		return lease.Holder{Who: string(znode.Unmarked(data))}
	}
	return ParseHolder(data)
}
