package partition

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// breaches describes the leases that were valid at the same time, and the tokens that
// are not greater than all before them. The stays are in the order in which they began.
func breaches(stays []stay) (found []string) {
	for i, s := range stays {
		for _, before := range stays[:i] {
			if !before.Until.Before(s.From) {
				found = append(found, fmt.Sprintf("two valid leases for %v:\n\t%v\n\t%v", min(before.Until.Sub(s.From), s.Until.Sub(s.From)), before, s))
			}
			if before.Token >= s.Token {
				found = append(found, fmt.Sprintf("tokens do not grow:\n\t%v\n\t%v", before, s))
			}
		}
	}
	return found
}

// requireNone fails a test that has breaches, and shows the first of them.
func requireNone(t *testing.T, found []string) {
	t.Helper()
	if len(found) > 0 {
		t.Errorf("%d breaches, such as\n%s", len(found), strings.Join(found[:min(len(found), 5)], "\n"))
	}
}

func TestBreaches(t *testing.T) {
	t.Parallel()
	held := func(token int64, from, until int) stay {
		at := time.Unix(0, 0)
		return stay{Token: token, From: at.Add(time.Duration(from)), Until: at.Add(time.Duration(until))}
	}
	for name, c := range map[string]struct {
		stays []stay
		want  []string
	}{
		"one after the other": {[]stay{held(1, 10, 20), held(2, 21, 30)}, nil},
		"at one moment":       {[]stay{held(1, 10, 20), held(2, 20, 30)}, []string{"two valid leases"}},
		"a long one":          {[]stay{held(1, 10, 90), held(2, 20, 30), held(3, 80, 95)}, []string{"for 10ns", "for 10ns"}},
		"an old token":        {[]stay{held(2, 10, 20), held(1, 30, 40)}, []string{"do not grow"}},
		"an old one later":    {[]stay{held(2, 10, 20), held(3, 30, 40), held(2, 50, 60)}, []string{"do not grow", "do not grow"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := breaches(c.stays)
			require.Len(t, found, len(c.want), "%v", found)
			for i, want := range c.want {
				assert.Contains(t, found[i], want)
			}
		})
	}
}
