package framework_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestConfigThatMakesNoSenseIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cfg   framework.Config
		field string
		says  string
	}{
		"no servers":          {framework.Config{}, "Servers", "no server"},
		"empty server":        {framework.Config{Servers: []string{""}}, "Servers[0]", "empty"},
		"trailing comma":      {framework.Config{Servers: []string{"a", "b,"}}, "Servers[1]", "empty"},
		"only a chroot":       {framework.Config{Servers: []string{"/chroot"}}, "Servers[0]", "empty"},
		"a scheme":            {framework.Config{Servers: []string{"zk://a:2181"}}, "Servers[0]", "scheme"},
		"credentials":         {framework.Config{Servers: []string{"a,me:" + secret + "@b:2181"}}, "Servers[0]", "has no credentials"},
		"scheme, credentials": {framework.Config{Servers: []string{"zk://me:" + secret + "@b/c"}}, "Servers[0]", "has no credentials"},
		"no host":             {framework.Config{Servers: []string{":2181"}}, "Servers[0]", "no host"},
		"a port name":         {framework.Config{Servers: []string{"a:zk"}}, "Servers[0]", "port"},
		"port 0":              {framework.Config{Servers: []string{"a:0"}}, "Servers[0]", "port"},
		"port too high":       {framework.Config{Servers: []string{"a:65536"}}, "Servers[0]", "port"},
		"two ports":           {framework.Config{Servers: []string{"a:1:2"}}, "Servers[0]", ""},
		"bad chroot":          {framework.Config{Servers: []string{"a"}, Chroot: "/a/../b"}, "Chroot", "relative"},
		"relative chroot":     {framework.Config{Servers: []string{"a"}, Chroot: "a"}, "Chroot", "slash"},
		"doubled slash":       {framework.Config{Servers: []string{"a"}, Chroot: "/a//b"}, "Chroot", "empty"},
		"two chroots":         {framework.Config{Servers: []string{"a/b"}, Chroot: "/c"}, "Servers[0]", "contradicts"},
		"two chroots again":   {framework.Config{Servers: []string{"a/b", "a/c"}}, "Servers[1]", "contradicts"},
		"absolute namespace":  {framework.Config{Servers: []string{"a"}, Namespace: "/a"}, "Namespace", `"/a": begins with a slash`},
		"namespace with dots": {framework.Config{Servers: []string{"a"}, Namespace: "a/.."}, "Namespace", ""},
		"short timeout":       {framework.Config{Servers: []string{"a"}, SessionTimeout: time.Millisecond}, "SessionTimeout", "1ms"},
		"long timeout":        {framework.Config{Servers: []string{"a"}, SessionTimeout: 25 * time.Hour}, "SessionTimeout", "25h"},
		"negative timeout":    {framework.Config{Servers: []string{"a"}, SessionTimeout: -time.Second}, "SessionTimeout", ""},
		"empty scheme":        {framework.Config{Servers: []string{"a"}, Auth: []framework.Credential{{Secret: []byte("x")}}}, "Auth[0].Scheme", "empty"},
		"empty secret":        {framework.Config{Servers: []string{"a"}, Auth: []framework.Credential{{Scheme: "x"}}}, "Auth[0].Secret", "empty"},
		"empty password":      {framework.Config{Servers: []string{"a"}, Auth: []framework.Credential{framework.DigestAuth(secret, "")}}, "Auth[0].Secret", "password is empty"},
		"digest without user": {framework.Config{Servers: []string{"a"}, Auth: []framework.Credential{{Scheme: "digest", Secret: []byte(secret)}}}, "Auth[0].Secret", "colon"},
		"negative grace":      {framework.Config{Servers: []string{"a"}, CloseGrace: -1}, "CloseGrace", "negative"},
		"negative request":    {framework.Config{Servers: []string{"a"}, RequestTimeout: -1}, "RequestTimeout", "negative"},
		"negative size":       {framework.Config{Servers: []string{"a"}, MaxRequestBytes: -1}, "MaxRequestBytes", "negative"},
		"negative quota":      {framework.Config{Servers: []string{"a"}, MaxEphemeralBytes: -1}, "MaxEphemeralBytes", "negative"},
		"negative limit":      {framework.Config{Servers: []string{"a"}, MaxOutstanding: -1}, "MaxOutstanding", "negative"},
		"bad retry policy":    {framework.Config{Servers: []string{"a"}, Retry: retry.Exponential(-1, 0)}, "Retry", ""},
		"bad reconnect":       {framework.Config{Servers: []string{"a"}, Reconnect: retry.Constant(-1)}, "Reconnect", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.cfg.Validate()
			require.Error(t, err)
			var wrong *framework.ConfigError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, tc.field, wrong.Field)
			assert.Contains(t, err.Error(), "config."+tc.field+": "+wrong.Err.Error())
			assert.Contains(t, err.Error(), tc.says)
			keeps(t, err.Error())
			c, err := framework.Connect(context.Background(), tc.cfg)
			require.Error(t, err, "and nothing is started")
			assert.Nil(t, c)
			wrong = nil
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, tc.field, wrong.Field)
			assert.True(t, isArgument(err), "%v", err)
		})
	}
}

func isArgument(err error) bool {
	return framework.OutcomeOf(err) == framework.Failed
}

func TestConfigWithEveryProblemNamesThemAll(t *testing.T) {
	t.Parallel()
	err := framework.Config{Namespace: "/"}.Validate()
	assert.Contains(t, err.Error(), "config.Servers")
	assert.Contains(t, err.Error(), "config.Namespace")
}

func TestConfigThatIsFine(t *testing.T) {
	t.Parallel()
	for _, cfg := range []framework.Config{
		{Servers: []string{"a"}},
		{Servers: []string{"a:2181, b:2182,[::1]:2183,::1,[fe80::1]/chroot/deep/"}},
		{Servers: []string{"a/x", "b/x"}, Chroot: "/x/"},
		{Servers: []string{"a/x@y"}},
		{Servers: []string{"10.0.0.1", "a", "a"}, Chroot: "/", Namespace: "a/b", SessionTimeout: time.Hour},
	} {
		assert.NoError(t, cfg.Validate(), "%v", cfg.Servers)
	}
}

// secret must be in no text, except in what the server gets.
const secret = "correct-horse-battery-staple"

// forms returns the ways in which a secret may be written.
func forms() []string {
	raw := []byte("user:" + secret)
	return []string{
		secret, "user:", base64.StdEncoding.EncodeToString(raw), hex.EncodeToString(raw), fmt.Sprintf("%d", raw), fmt.Sprintf("%q", raw),
		strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]"), hex.EncodeToString([]byte(secret)),
	}
}

func keeps(t *testing.T, text string) {
	t.Helper()
	for _, form := range forms() {
		assert.NotContains(t, strings.ToLower(text), strings.ToLower(form))
	}
}

func TestCredentialsAreNotPrinted(t *testing.T) {
	t.Parallel()
	cred := framework.DigestAuth("user", secret)
	cfg := framework.Config{Servers: []string{"a"}, Auth: []framework.Credential{cred}}
	for _, v := range []any{cred, &cred, cfg, &cfg, cfg.Auth, []any{cfg}, map[string]any{"c": cred}, struct{ C framework.Credential }{cred}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			keeps(t, fmt.Sprintf(verb, v))
		}
		if b, err := json.Marshal(v); err == nil {
			keeps(t, string(b))
		}
		var buf bytes.Buffer
		slog.New(slog.NewTextHandler(&buf, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&buf, nil)).Info("x", "v", v)
		keeps(t, buf.String())
	}
	assert.Contains(t, cred.String(), "digest", "the scheme may be known")
}

// transcript is a log at the most talkative level.
type transcript struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *transcript) setting(cfg *framework.Config) {
	cfg.Logger = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug - 10, AddSource: true}))
}

// A life with everything that can go wrong with credentials.
func TestCredentialsAreNotLogged(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var log transcript
		auth := func(cfg *framework.Config) { cfg.Auth = []framework.Credential{framework.DigestAuth("user", secret)} }
		s.On(zktest.OpAuth, "").Cut()
		s.On(zktest.OpAuth, "").Nth(2).After().Cut()
		c := connect(t, s, auth, log.setting)
		for range 2 {
			s.DropConnections("client")
			time.Sleep(2 * time.Second)
		}
		s.On(zktest.OpAuth, "").Cut()
		s.DropConnections("client")
		time.Sleep(2 * time.Second)
		s.ExpireSession(c.Session().ID())
		time.Sleep(2 * time.Second)
		require.Equal(t, connected, c.State())
		s.Partition("client", true)
		time.Sleep(timeout)
		s.Partition("client", false)
		time.Sleep(2 * time.Second)
		require.NoError(t, c.Close())

		s.On(zktest.OpAuth, "").Always().Fail(zktest.AuthFailed)
		_, err := framework.Connect(t.Context(), config(s, "client", auth, log.setting))
		require.ErrorIs(t, err, framework.ErrAuthFailed)
		keeps(t, err.Error())
		keeps(t, fmt.Sprintf("%+v %#v", err, err))
		require.NotEmpty(t, log.String())
		keeps(t, log.String())
	})
}
