package znode

import (
	"fmt"
	"strconv"
	"strings"
)

// Stripe begins the names of the parents of the queues of stripes, below the path of
// these. A number follows.
const Stripe = "stripe-"

// StripeDir returns the name of one of them.
func StripeDir(i int) string { return fmt.Sprintf("%s%04d", Stripe, i) }

// MaxStripes is the greatest number of stripes at one path.
const MaxStripes = 1024

// ParseStripeDir is the inverse of StripeDir.
func ParseStripeDir(name string) (i int, ok bool) {
	digits, ok := strings.CutPrefix(name, Stripe)
	if !ok { // as most are, of very many
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil && i >= 0 && i < MaxStripes && StripeDir(i) == name
}

// Stripes is what the path of n stripes stores. It is a text, and so not the size of a
// semaphore.
func Stripes(n int) []byte { return fmt.Appendf(nil, "%d stripes", n) }

// ParseStripes is the inverse of Stripes.
func ParseStripes(data []byte) (n int, ok bool) {
	digits, _ := strings.CutSuffix(string(data), " stripes")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && string(Stripes(n)) == string(data)
}
