package zktest_test

import (
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

var lineNumber = regexp.MustCompile(`_test\.go:\d+`)

// verdict is a test that notes what a server says against it.
type verdict struct {
	testing.TB
	against  []string
	failed   bool
	cleanups []func()
}

func (v *verdict) Errorf(format string, args ...any) {
	v.against = append(v.against, lineNumber.ReplaceAllString(fmt.Sprintf(format, args...), "_test.go:*"))
}
func (v *verdict) Cleanup(f func()) { v.cleanups = append(v.cleanups, f) }
func (v *verdict) Failed() bool     { return v.failed }

// judged runs a test that does nothing but to make rules and one request, and returns
// what was said against it.
func judged(t *testing.T, failed bool, rules func(s *zktest.Server)) []string {
	t.Helper()
	v := &verdict{TB: t, failed: failed}
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(v, zktest.WithNetwork(new(zktest.Network)))
		rules(s)
		answer(t, speaker(t, s, "a", nil), zktest.OpExists, read("/", false))
		for _, f := range v.cleanups {
			f()
		}
	})
	return v.against
}

func TestRuleThatNeverStrikesFailsItsTest(t *testing.T) {
	require.Equal(t, []string{
		`zktest: the rule made at idle_rule_test.go:* never struck: cut the connection before create of "/a", call 1 (0 came)`,
		`zktest: the rule made at idle_rule_test.go:* never struck: delay by 1s after exists of "/" of a, call 2 (1 came)`,
		`zktest: the rule made at idle_rule_test.go:* never struck: mute the connection before delete of "/", call 1 (0 came)`,
	}, judged(t, false, func(s *zktest.Server) {
		s.On(zktest.OpCreate, "/a").Cut()
		s.On(zktest.OpExists, "/").Client("a").Nth(2).After().Delay(time.Second)
		s.On(zktest.OpDelete, "/").Mute().Remove() // it was in force
		s.On(zktest.OpExists, "/").Delay(time.Second)
		s.On(zktest.OpCreate, "/b").Optional().Cut()
		s.On(zktest.OpCreate, "/c").Nth(3) // never took force
	}))
	require.Empty(t, judged(t, true, func(s *zktest.Server) { s.On(zktest.OpCreate, "/a").Cut() }), "it may have ended before")
}

// All rules count a call, also one at which another strikes; who is due then has the
// next.
func TestRulesCountTheCallsAtWhichOthersStrike(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := speaker(t, s, "a", nil)
		codes := []zktest.Code{zktest.NoAuth, zktest.NoNode, zktest.BadVersion, zktest.NotEmpty}
		for i, nth := range []int{1, 3, 2, 2} {
			s.On(zktest.OpExists, "/").Nth(nth).Fail(codes[i])
		}
		for _, want := range []zktest.Code{zktest.NoAuth, zktest.BadVersion, zktest.NoNode, zktest.NotEmpty, zktest.OK} {
			require.Equal(t, want, answer(t, a, zktest.OpExists, read("/", false)).Code)
		}
	})
}
