// Package ports reserves TCP ports, which stay reserved while nothing listens on them.
// A port from listening on ":0" does not suit a server that is killed and started
// again: it lies in the range of outgoing connections, and may be in use when the
// server starts again. Blocks come from below that range. A listener on the first port
// of each block keeps other test binaries of this module away from it while its owner
// lives.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Size is the number of ports of a block, its guard not counted.
const Size = 12

const (
	first  = 10000 // lowest guard port
	stride = Size + 1
	blocks = 1690 // up to 31969, below the usual range of outgoing connections
)

// A Block is Size consecutive ports of the loopback interface, reserved until Release.
type Block struct {
	base  int
	guard net.Listener
}

// Reserve finds a block on which nothing listens.
func Reserve() (*Block, error) {
	start := rand.IntN(blocks)
	for i := range blocks {
		base := first + (start+i)%blocks*stride
		guard, err := net.Listen("tcp", address(base))
		if err != nil {
			continue
		}
		b := &Block{base: base, guard: guard}
		if b.free() {
			return b, nil
		}
		b.Release()
	}
	return nil, fmt.Errorf("no %d consecutive free ports on 127.0.0.1 between %d and %d", stride, first, first+blocks*stride)
}

// Port returns the port with index i, from 0 to Size-1.
func (b *Block) Port(i int) int {
	if i < 0 || i >= Size {
		panic(fmt.Sprintf("ports: index %d of a block of %d", i, Size))
	}
	return b.base + 1 + i
}

// Address returns "127.0.0.1:port" for the port with index i.
func (b *Block) Address(i int) string { return address(b.Port(i)) }

// Release ends the reservation.
func (b *Block) Release() { _ = b.guard.Close() }

func (b *Block) free() bool {
	for i := range Size {
		l, err := net.Listen("tcp", b.Address(i))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
