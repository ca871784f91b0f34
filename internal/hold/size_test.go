package hold

import (
	"math/bits"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// A process may hold very many locks. The allocator rounds up what each takes: the next
// sizes are 416 and 448 bytes.
func TestSizeOfAHold(t *testing.T) {
	t.Parallel()
	if bits.UintSize == 64 {
		assert.LessOrEqual(t, unsafe.Sizeof(Hold{}), uintptr(416))
	}
}
