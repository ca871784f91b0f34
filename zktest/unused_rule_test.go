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

// recorder is a test that records the errors that a server reports.
type recorder struct {
	testing.TB
	errors   []string
	failed   bool
	cleanups []func()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, lineNumber.ReplaceAllString(fmt.Sprintf(format, args...), "_test.go:*"))
}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Failed() bool     { return r.failed }

// errorsOf runs a test that only makes rules and one request, and returns its errors.
func errorsOf(t *testing.T, failed bool, rules func(s *zktest.Server)) []string {
	t.Helper()
	r := &recorder{TB: t, failed: failed}
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(r, zktest.WithNetwork(new(zktest.Network)))
		rules(s)
		answer(t, speaker(t, s, "a", nil), zktest.OpExists, read("/", false))
		for _, f := range r.cleanups {
			f()
		}
	})
	return r.errors
}

func TestRuleThatNeverFiresFailsItsTest(t *testing.T) {
	require.Equal(t, []string{
		`zktest: the rule made at unused_rule_test.go:* never fired: cut the connection before create of "/a", call 1 (0 came)`,
		`zktest: the rule made at unused_rule_test.go:* never fired: delay by 1s after exists of "/" of a, call 2 (1 came)`,
		`zktest: the rule made at unused_rule_test.go:* never fired: mute the connection before delete of "/", call 1 (0 came)`,
	}, errorsOf(t, false, func(s *zktest.Server) {
		s.On(zktest.OpCreate, "/a").Cut()
		s.On(zktest.OpExists, "/").Client("a").Nth(2).After().Delay(time.Second)
		s.On(zktest.OpDelete, "/").Mute().Remove() // it was active
		s.On(zktest.OpExists, "/").Delay(time.Second)
		s.On(zktest.OpCreate, "/b").Optional().Cut()
		s.On(zktest.OpCreate, "/c").Nth(3) // never active
	}))
	require.Empty(t, errorsOf(t, true, func(s *zktest.Server) { s.On(zktest.OpCreate, "/a").Cut() }), "it may have ended before")
}

// All rules count a call, also one at which another rule fires. A rule that was due
// then fires at the next call.
func TestRulesCountCallsOfOtherRules(t *testing.T) {
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
