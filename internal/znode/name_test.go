package znode

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const someID = "_c_01234567-89ab-4def-8123-456789abcdef-"

func TestParse(t *testing.T) {
	t.Parallel()
	contenders := map[string]Name{
		someID + "lock-0000000000":  {Kind: "lock-", Sequence: 0},
		someID + "lock-0000000042":  {Kind: "lock-", Sequence: 42},
		someID + "lock-2147483647":  {Kind: "lock-", Sequence: math.MaxInt32},
		someID + "lock--2147483648": {Kind: "lock-", Sequence: math.MinInt32},
		someID + "lock--0000000001": {Kind: "lock-", Sequence: -1},
		"lock-0000000007":           {Kind: "lock-", Sequence: 7},
		"x-lock-0000000007":         {Kind: "lock-", Sequence: 7},
		"lock-lock-0000000007":      {Kind: "lock-", Sequence: 7},
		"lock-0000000001-lock-0000000007": {
			Kind: "lock-", Sequence: 7,
		},
		"_c_0123456789abcdef0123456789abcdef-lock-0000000003": {Kind: "lock-", Sequence: 3},
		someID + "__READ__0000000005":                         {Kind: "__READ__", Sequence: 5},
		someID + "__WRIT__0000000006":                         {Kind: "__WRIT__", Sequence: 6},
	}
	for node, want := range contenders {
		want.Node = node
		got, ok := Parse(node, Locks...)
		require.True(t, ok, node)
		require.Equal(t, want, got)
	}
	unrelated := []string{
		"", "abc", "0abc", "x-lock-", "lock-", "lock", "lock-1", "lock-000000000", "lock-00000000000", "lock-000000000a",
		"lock- 000000001", "lock-+000000001", "lock--", "lock--000000001", "lock---0000000001", "lock-0000000001 ",
		"lock-2147483648", "lock-9999999999", "lock--2147483649", "lock-0000000001.bak", "0000000001", "latch-0000000001",
		"LOCK-0000000001", "lock_0000000001", "lock-٠٠٠٠٠٠٠٠٠١", "_c_x",
	}
	for _, node := range unrelated {
		_, ok := Parse(node, Locks...)
		require.False(t, ok, "%q", node)
	}
	_, ok := Parse("lock-0000000001")
	require.False(t, ok, "no kinds, no contenders")
}

// FuzzParse looks for names that break the parser or that it reads otherwise than they
// are written.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "lock-0000000001", someID + "lock--2147483648", "lock-lock-0000000001", "lock-９９９９９９９９９９", "__READ__0000000005"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, node string) {
		for _, kinds := range [][]string{{Mutex}, {"__READ__", "__WRIT__"}, Locks, {}} {
			name, ok := Parse(node, kinds...)
			if !ok {
				if name != (Name{}) {
					t.Fatalf("%q is no contender, but %+v", node, name)
				}
				continue
			}
			tail := name.Kind + fmt.Sprintf("%010d", name.Sequence)
			if name.Sequence < 0 { // the sign is not one of the ten digits
				tail = name.Kind + fmt.Sprintf("-%010d", -int64(name.Sequence))
			}
			if name.Node != node || !slices.Contains(kinds, name.Kind) {
				t.Fatalf("%q parsed as %+v", node, name)
			}
			if !strings.HasSuffix(node, tail) && !strings.HasSuffix(node, name.Kind+"-0000000000") {
				t.Fatalf("%q parsed as %+v, which ends in %q", node, name, tail)
			}
		}
	})
}

// FuzzBefore looks for names that have no consistent order.
func FuzzBefore(f *testing.F) {
	f.Add(int32(0), int32(1), int32(2), "a", "b", "c")
	f.Add(int32(math.MaxInt32), int32(math.MinInt32), int32(-1), "a", "a", "b")
	f.Add(int32(math.MaxInt32), int32(math.MaxInt32), int32(5), "", "x", "y")
	f.Fuzz(func(t *testing.T, first, second, third int32, x, y, z string) {
		names := []Name{{Node: x, Sequence: first}, {Node: y, Sequence: second}, {Node: z, Sequence: third}}
		for _, p := range names {
			if p.Before(p) {
				t.Fatalf("%+v is before itself", p)
			}
			for _, q := range names {
				if p.Node != q.Node && p.Before(q) == q.Before(p) {
					t.Fatalf("%+v and %+v have no order", p, q)
				}
				if p.Ordered() && (!q.Ordered() || p.Sequence < q.Sequence) && !p.Before(q) {
					t.Fatalf("%+v was made before %+v", p, q)
				}
				for _, r := range names {
					if p.Before(q) && q.Before(r) && !p.Before(r) {
						t.Fatalf("%+v, %+v, %+v are ordered in a circle", p, q, r)
					}
				}
			}
		}
	})
}

// The counter's last number is given to any number of nodes, so it says nothing; nor do
// the negative ones that come of it now and then.
func TestOrderAtTheEndOfTheCounter(t *testing.T) {
	t.Parallel()
	order := []Name{
		{Node: "z", Sequence: 0}, {Node: "y", Sequence: 1}, {Node: "x", Sequence: math.MaxInt32 - 1},
		{Node: "b", Sequence: math.MinInt32}, {Node: "a", Sequence: -1},
		{Node: "c", Sequence: math.MaxInt32}, {Node: "d", Sequence: math.MaxInt32},
	}
	for i := range order {
		require.Equal(t, i < 3, order[i].Ordered())
		for j := range order {
			require.Equal(t, i < j, order[i].Before(order[j]), "%v and %v", order[i], order[j])
		}
	}
}

func TestContendersAreSortedAndOthersLeftOut(t *testing.T) {
	t.Parallel()
	got := Contenders([]string{
		"x-lock--2147483648", "abc", "b-lock-2147483647", "a-lock-2147483647", "0abc", "z-lock-2147483646", "x-lock-",
	}, Mutex)
	var order []string
	for _, n := range got {
		order = append(order, n.Node)
	}
	require.Equal(t, []string{"z-lock-2147483646", "x-lock--2147483648", "a-lock-2147483647", "b-lock-2147483647"}, order)
	require.Empty(t, Contenders(nil, Mutex))
}
