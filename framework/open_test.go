package framework_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const harm = framework.PermCreate | framework.PermDelete | framework.PermAdmin

// warned collects what is logged as a warning.
type warned struct{ bytes.Buffer }

func (w *warned) setting(cfg *framework.Config) {
	cfg.Logger = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func (w *warned) lines() []string {
	text := strings.TrimSuffix(w.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func warn(c *framework.Client, node string) {
	kit.Of(c).WarnIfOpen(node, harm)
	synctest.Wait()
}

// node makes a node with an ACL.
func node(t *testing.T, c *framework.Client, path string, acl ...framework.ACL) {
	t.Helper()
	_, err := c.Create(t.Context(), path, nil, framework.Persistent, framework.WithACL(acl))
	require.NoError(t, err)
}

func TestWarningOfAnOpenNodeComesOncePerPathAndSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var log warned
		c := connect(t, s, with(ourCredential), log.setting)
		node(t, c, "/open", open...)
		for range 3 {
			warn(c, "/open")
		}
		require.Len(t, log.lines(), 1)
		require.Contains(t, log.String(), "level=WARN")
		require.Contains(t, log.String(), "path=/open open=world:anyone:cdrwa")
		require.Contains(t, log.String(), "OwnedBelow")
		require.Contains(t, log.String(), "setAcl auth::cdrwa,world:anyone:r")
		require.Equal(t, 1, s.Count(zktest.OpGetACL))
		node(t, c, "/ns", open...)
		ns, err := c.Namespace("ns")
		require.NoError(t, err)
		node(t, ns, "/open", append(framework.DigestACL(framework.PermAll, "us", "hunter2"), framework.ACL{Perms: framework.PermCreate, Scheme: "ip", ID: "10.0.0.0/8"})...)
		warn(ns, "/open")
		require.Len(t, log.lines(), 2, "it is another path")
		require.Contains(t, log.String(), "path=/ns/open open=ip:10.0.0.0/8:c ")
		require.NotContains(t, log.String(), "digest")
		s.ExpireSession(c.Session().ID())
		time.Sleep(2 * time.Second)
		warn(c, "/open")
		require.Equal(t, 1, strings.Count(strings.Join(log.lines()[2:], "\n"), "path=/open "), "another session")
	})
}

func TestWhichEntriesAreOpen(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var log warned
		c := connect(t, s, with(ourCredential), log.setting)
		us := framework.DigestACL(framework.PermAll, "us", "hunter2")
		for i, test := range []struct {
			acl  []framework.ACL
			open string
		}{
			{us, ""},
			{readable, ""},
			{framework.WorldACL(framework.PermRead | framework.PermWrite), ""},
			{framework.DigestACL(framework.PermAll, "them", "hunter3"), ""},
			{framework.WorldACL(framework.PermCreate), "world:anyone:c"},
			{framework.WorldACL(framework.PermDelete), "world:anyone:d"},
			{framework.WorldACL(framework.PermAdmin), "world:anyone:a"},
			{[]framework.ACL{{Perms: framework.PermAll, Scheme: "ip", ID: "10.0.0.1"}, open[0]}, "ip:10.0.0.1:cdrwa,world:anyone:cdrwa"},
		} {
			path := fmt.Sprintf("/node%d", i)
			node(t, c, path, append(us[:1:1], test.acl...)...)
			log.Reset()
			warn(c, path)
			if test.open == "" {
				require.Empty(t, log.lines(), path)
			} else {
				require.Contains(t, log.String(), "open="+test.open+" ", path)
			}
			found, err := kit.Of(c).OpenEntries(t.Context(), path, harm)
			require.NoError(t, err)
			require.Equal(t, test.open, strings.ReplaceAll(strings.Trim(fmt.Sprint(found), "[]"), " ", ","))
		}
	})
}

// A caller that reads the entries itself gets no warning as well.
func TestNoWarningOfANodeThatWasRead(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var log warned
		c := connect(t, s, with(ourCredential), log.setting)
		_, err := kit.Of(c).OpenEntries(t.Context(), "/open", harm)
		require.ErrorIs(t, err, framework.ErrNoNode)
		node(t, c, "/open", open...)
		warn(c, "/open")
		require.Empty(t, log.lines())
	})
}

func TestNoWarningWithoutCredentials(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var log warned
		c := connect(t, s, log.setting)
		node(t, c, "/open", open...)
		warn(c, "/open")
		require.Empty(t, log.lines())
		require.Zero(t, s.Count(zktest.OpGetACL))
	})
}

// A read that fails does no harm, and is repeated if it may succeed then.
func TestReadsOfACLsThatFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		strike func(*zktest.Rule)
		again  int
	}{
		"the answer is dropped": {func(r *zktest.Rule) { r.Cut() }, 1},
		"the node is not there": {func(r *zktest.Rule) { r.Fail(zktest.NoNode) }, 1},
		"it is refused":         {func(r *zktest.Rule) { r.Fail(zktest.NoAuth) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				var log warned
				c := connect(t, s, with(ourCredential), log.setting)
				node(t, c, "/open", open...)
				rule := s.On(zktest.OpGetACL, "/open")
				test.strike(rule)
				warn(c, "/open")
				<-rule.Fired()
				time.Sleep(time.Second)
				require.NotContains(t, log.String(), "/open")
				warn(c, "/open")
				require.Equal(t, test.again, strings.Count(log.String(), "path=/open"))
			})
		})
	}
}

// The memory of a session has an end, and so have its warnings.
func TestAThousandPathsAreChecked(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, with(ourCredential))
		node(t, c, "/open", open...)
		for i := range 1100 {
			warn(c, fmt.Sprintf("/open%d", i)) // none is there, so none is remembered
		}
		require.Equal(t, 1100, s.Count(zktest.OpGetACL))
		for i := range 1100 {
			_, err := kit.Of(c).OpenEntries(t.Context(), fmt.Sprintf("/open/%d", i), harm)
			require.ErrorIs(t, err, framework.ErrNoNode)
		}
		s.ResetCounts()
		warn(c, "/open")
		require.Zero(t, s.Count(zktest.OpGetACL))
		s.ExpireSession(c.Session().ID())
		time.Sleep(2 * time.Second)
		warn(c, "/open")
		require.Equal(t, 1, s.Count(zktest.OpGetACL))
	})
}

func TestACLAsText(t *testing.T) {
	t.Parallel()
	for want, acl := range map[string]framework.ACL{
		"world:anyone:cdrwa":        open[0],
		"digest:us:dr":              framework.DigestACL(framework.PermRead|framework.PermDelete, "us", "hunter2")[0],
		`ip:10.0.0.1\nlevel=ERROR:`: {Scheme: "ip", ID: "10.0.0.1\nlevel=ERROR"},
		`x\u202e:\xff:w`:            {Perms: framework.PermWrite, Scheme: "x\u202e", ID: "\xff"},
	} {
		require.Equal(t, want, acl.String())
		require.Equal(t, want, fmt.Sprint(acl))
	}
}
