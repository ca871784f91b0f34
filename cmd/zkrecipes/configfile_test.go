//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"\n\n # a\n;b\n\t#ZKRECIPES_LABEL=x": "",
		"ZKRECIPES_LABEL=a b":                "a b",
		"  ZKRECIPES_LABEL =\t a b  ":        "a b",
		"ZKRECIPES_LABEL=a\r\n":              "a",
		"ZKRECIPES_LABEL=":                   "",
		"ZKRECIPES_LABEL=''":                 "",
		`ZKRECIPES_LABEL=" a b "`:            " a b ",
		`ZKRECIPES_LABEL='it"s'`:             `it"s`,
		`ZKRECIPES_LABEL="it's"`:             "it's",
		`ZKRECIPES_LABEL=it's "so"`:          `it's "so"`,
		`ZKRECIPES_LABEL='a\b'`:              `a\b`,
		"ZKRECIPES_LABEL=$HOME a=b #":        "$HOME a=b #",
		"ZKRECIPES_LABEL=\"$HOME `x`\"":      "$HOME `x`",
	} {
		all, err := parseConfig("f", text)
		require.NoError(t, err, "%q", text)
		if want == "" {
			require.Empty(t, all, "%q", text)
			continue
		}
		require.Len(t, all, 1, "%q", text)
		require.Equal(t, want, all[0].value, "%q", text)
	}
	all, err := parseConfig("f", "ZKRECIPES_SERVERS=a\n\nZKRECIPES_LOCK_DELAY=5s\nZKRECIPES_AUTH=digest:a:b\nZKRECIPES_PORT=1\nZKRECIPES_LOCK_2=/b")
	require.NoError(t, err)
	require.Equal(t, []variable{
		{"ZKRECIPES_SERVERS", "a", "f:1: ZKRECIPES_SERVERS"},
		{"ZKRECIPES_LOCK_DELAY", "5s", "f:3: ZKRECIPES_LOCK_DELAY"},
		{"ZKRECIPES_AUTH", "digest:a:b", "f:4: ZKRECIPES_AUTH"},
		{"ZKRECIPES_PORT", "1", "f:5: ZKRECIPES_PORT"},
		{"ZKRECIPES_LOCK_2", "/b", "f:6: ZKRECIPES_LOCK_2"},
	}, all)
}

// Errors name the file and the line, and no value: the line may be a secret.
func TestMistakesInAConfigFile(t *testing.T) {
	for text, says := range map[string]string{
		"ZKRECIPES_SERVERS=zk\nzk-hunter2":          "@:2: not NAME=value",
		"digest:me:hunter2":                         "@:1: not NAME=value",
		"digest:me:hunter2=":                        "@:1: not NAME=value",
		"=hunter2":                                  "@:1: not NAME=value",
		"export ZKRECIPES_SERVERS=hunter2":          "@:1: not NAME=value",
		"\xef\xbb\xbfZKRECIPES_SERVERS=hunter2":     "@:1: not NAME=value",
		"\nZKRECIPES_AUHT=digest:me:hunter2":        "@:2: ZKRECIPES_AUHT cannot be set in a file",
		"LANG=hunter2":                              "@:1: LANG cannot be set",
		"ZKRECIPES_LOCK_PATH=/hunter2":              "@:1: ZKRECIPES_LOCK_PATH cannot be set",
		"ZKRECIPES_LOCK_KEY=hunter2":                "@:1: ZKRECIPES_LOCK_KEY cannot be set",
		"ZKRECIPES_TIMEOUT_1=5s":                    "@:1: ZKRECIPES_TIMEOUT_1 cannot be set",
		"ZKRECIPES_CONFIG=hunter2":                  "@:1: ZKRECIPES_CONFIG cannot be set",
		"ZKRECIPES_COMMAND=hunter2":                 "@:1: ZKRECIPES_COMMAND cannot be set",
		"ZKRECIPES_KEY=a\n#\nZKRECIPES_KEY=hunter2": "@:3: ZKRECIPES_KEY is set in line 1 already",
		"ZKRECIPES_KEY=\nZKRECIPES_KEY=hunter2":     "@:2: ZKRECIPES_KEY is set in line 1 already",
		`ZKRECIPES_AUTH="digest:me:hunter2`:         "@:1: ZKRECIPES_AUTH: the quote",
		`ZKRECIPES_AUTH="digest:me:hunter2" x`:      "@:1: ZKRECIPES_AUTH: the quote",
		`ZKRECIPES_AUTH="digest:me:""hunter2"`:      "@:1: ZKRECIPES_AUTH: the quote",
		`ZKRECIPES_AUTH="`:                          "@:1: ZKRECIPES_AUTH: the quote",
		`ZKRECIPES_AUTH=digest:me:hunter2\`:         "@:1: ZKRECIPES_AUTH: a backslash",
		`ZKRECIPES_AUTH="digest:me:hunter2\n"`:      "@:1: ZKRECIPES_AUTH: a backslash",
		"ZKRECIPES_AUTH=digest:me:hunter2\x00":      "@:1: ZKRECIPES_AUTH: the value is not text",
		"ZKRECIPES_AUTH=digest:me:hunter2\xff":      "@:1: ZKRECIPES_AUTH: the value is not text",
		"ZKRECIPES_AUTH=digest:me:hunter2\rX=Y":     "@:1: a carriage return",
		"ZKRECIPES_AUTH=hunter2":                    "@:1: ZKRECIPES_AUTH is not SCHEME:SECRET",
		"# this goes on \\\nZKRECIPES_AUTH=hunter2": "@:1: a backslash at the end of a comment",
		"ZKRECIPES_TRY=x":                           `@:1: ZKRECIPES_TRY "x": neither true nor false`,
		"#" + strings.Repeat("x", maxConfig):        "@: too large",
	} {
		file := configured(t, text)
		code, stdout, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, "run", "--config", file, "/l", "--", "true")
		require.Equal(t, exitUsage, code, "%.100q", text)
		require.Contains(t, stderr, strings.ReplaceAll(says, "@", file), "%.100q", text)
		require.NotContains(t, stderr, "hunter2")
		require.Empty(t, stdout)
	}
	for args, says := range map[string]string{
		"--config /no/such/file": "run: --config: /no/such/file: no such file",
		"--config=":              "run: --config is empty",
		"--config /":             "run: --config: /: ",
	} {
		code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, append([]string{"run", "/l"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, says)
	}
	code, _, stderr := invoke(t, []string{"ZKRECIPES_CONFIG=/no/such/file"}, "ls", "/l")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "ls: ZKRECIPES_CONFIG: /no/such/file: no such file")
}

// A secret that others can read is none, and who can write chooses the servers.
func TestConfigFileWithASecretIsPrivate(t *testing.T) {
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o644: true, 0o602: true, 0o610: true} {
		for text, secret := range map[string]bool{
			"ZKRECIPES_AUTH=digest:me:hunter2": true, "ZKRECIPES_AUTH=hunter2": true, "ZKRECIPES_LABEL=x": false, "ZKRECIPES_AUTH=": false,
		} {
			file := configured(t, text)
			require.NoError(t, os.Chmod(file, mode))
			_, err := readConfig(given{file, "--config"})
			if refused && secret {
				require.ErrorContains(t, err, "chmod 600 "+file, "%v %s", mode, text)
				require.NotContains(t, err.Error(), "hunter2")
			} else {
				require.NoError(t, err, "%v %s", mode, text)
			}
		}
	}
	file := configured(t, "ZKRECIPES_AUTH=digest:me:hunter2")
	require.NoError(t, os.Chmod(file, 0o644)) // #nosec G302 -- what is refused
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(file, link))
	_, err := readConfig(given{link, "--config"})
	require.ErrorContains(t, err, "chmod 600")
}

// The environment's credential wins, and that of --auth-file is one more.
func TestCredentialInAConfigFile(t *testing.T) {
	file := configured(t, "ZKRECIPES_AUTH=digest:file:x")
	for _, test := range []struct {
		env  []string
		want string
	}{
		{nil, "file:x"},
		{[]string{envAuth + "="}, "file:x"},
		{[]string{envAuth + "=digest:env:x"}, "env:x"},
	} {
		p := &program{env: test.env}
		require.NoError(t, p.parse((&lsFlags{}).flagSet(), []string{"/l", "--config", file}))
		require.Len(t, p.auth, 1)
		require.Equal(t, test.want, string(p.auth[0].Secret))
	}
}
