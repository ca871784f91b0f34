//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// secretFile makes a file with a credential.
func secretFile(t *testing.T, name string, mode fs.FileMode) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte("digest:me:hunter2\n"), 0o600))
	require.NoError(t, os.Chmod(file, mode)) // whatever the umask
	return file
}

func TestAuthFileThatOtherUsersCanRead(t *testing.T) {
	env := []string{envServers + "=127.0.0.1:1"}
	for _, mode := range []fs.FileMode{0o604, 0o644, 0o620, 0o602, 0o610, 0o666} {
		file := secretFile(t, "auth", mode)
		for _, args := range []string{"run --lock /l -- true", "elect --path /l -- true", "ls /l", "revoke /l"} {
			verb, rest, _ := strings.Cut(args, " ")
			code, stdout, stderr := invoke(t, env, append([]string{verb, "--auth-file", file}, strings.Fields(rest)...)...)
			require.Equal(t, exitUsage, code, "%s, mode %o", args, mode)
			require.Contains(t, stderr, "chmod 600 "+file)
			require.NotContains(t, stderr, "hunter2")
			require.Empty(t, stdout)
		}
	}
	for _, mode := range []fs.FileMode{0o600, 0o400, 0o700} {
		c := connection{authFile: option[string]{secretFile(t, "auth", mode), true}}
		all, err := c.credentials(nil)
		require.NoError(t, err)
		require.Len(t, all, 1)
	}
}

// A fileOf is a file of some owner.
type fileOf struct {
	os.FileInfo
	mode fs.FileMode
	uid  uint32
}

func (f fileOf) Mode() fs.FileMode { return f.mode }

func (f fileOf) Sys() any { return &syscall.Stat_t{Uid: f.uid} }

// A group may read a file of root: so services get their secrets.
func TestSecretsOfAGroup(t *testing.T) {
	for _, test := range []struct {
		mode    fs.FileMode
		uid     uint32
		refused bool
	}{
		{0o600, 1000, false}, {0o640, 1000, true}, {0o640, 0, false}, {0o440, 0, false}, {0o660, 0, true}, {0o650, 0, true}, {0o644, 0, true},
		{fs.ModeNamedPipe | 0o666, 1000, false},
	} {
		err := checkPrivate("a b", fileOf{mode: test.mode, uid: test.uid})
		require.Equal(t, test.refused, err != nil, "%v of %d", test.mode, test.uid)
		if test.refused {
			require.ErrorContains(t, err, "chmod 600 'a b'")
		}
	}
}

// The mode is that of the file, not of a link to it.
func TestAuthFileBehindALink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(secretFile(t, "auth", 0o644), link))
	c := connection{authFile: option[string]{link, true}}
	_, err := c.credentials(nil)
	require.ErrorContains(t, err, "open to other users (mode 0644)")
}

// As of "--auth-file <(pass show zk)".
func TestCredentialsFromAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Chmod(pipe, 0o660)) // #nosec G302 -- the mode of every pipe on some systems
	written := make(chan struct{})
	go func() {
		defer close(written)
		if in, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil {
			_, _ = in.WriteString("digest:me:hunter2\n")
			_ = in.Close()
		}
	}()
	c := connection{authFile: option[string]{pipe, true}}
	all, err := c.credentials(nil)
	<-written
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"/etc/zk/auth-1.txt": "/etc/zk/auth-1.txt", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "tür": "'tür'",
	} {
		require.Equal(t, want, shellWord(text))
	}
}
