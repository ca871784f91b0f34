package integration

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
)

// shells are those for which there are completions, each without the user's settings,
// and what is typed first.
var shells = []struct{ name, command, setup string }{
	{"bash", "bash --norc --noprofile -i", "set -u; shopt -s failglob; source <(zkrecipes completion bash)"},
	{"zsh", "zsh -f -i", "autoload -Uz compinit; compinit -u -D; source <(zkrecipes completion zsh)"},
	{"fish", "fish --no-config -i", "zkrecipes completion fish | source"},
}

// recorder stands for zkrecipes in a shell: it prints completions as that does, and
// records how it was called else. Paths are asked for again if there are none: it gives
// up after a second, which the machine may have been too busy for.
const recorder = `#!/bin/sh
case "$1 $2" in
"completion paths")
	paths=$("$ZKRECIPES_REAL" "$@")
	[ -n "$paths" ] || paths=$("$ZKRECIPES_REAL" "$@")
	[ -z "$paths" ] || printf '%s\n' "$paths"
	;;
completion*) exec "$ZKRECIPES_REAL" "$@" ;;
*) echo "$@" >>"$ZKRECIPES_CALLS" ;;
esac
`

// typed types lines into a shell that has a terminal, with "\t" for the key that
// completes, and returns the command lines of zkrecipes that came of it, and what the
// terminal showed.
func typed(t *testing.T, command, servers string, lines ...string) (calls, shown string) {
	t.Helper()
	for _, needed := range []string{"script", strings.Fields(command)[0]} {
		_, err := exec.LookPath(needed)
		require.NoError(t, err, "run .ci/install-shells")
	}
	program, err := built()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	for name, text := range map[string]string{"bin/zkrecipes": recorder, "bin/job-of-a-test": "#!/bin/sh\n", "calls": "", "only.pem": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	shell := exec.CommandContext(within(t, limit), "script", "-qec", command, os.DevNull)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "TERM=vt100", "LC_ALL=C.UTF-8",
		"PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"ZKRECIPES_SERVERS="+servers, "ZKRECIPES_REAL="+program, "ZKRECIPES_CALLS="+filepath.Join(dir, "calls"))
	// Not a Reader: script would take its end for that of the shell.
	keys, err := shell.StdinPipe()
	require.NoError(t, err)
	_, err = io.WriteString(keys, strings.Join(append(lines, "exit\n"), "\n"))
	require.NoError(t, err)
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	return string(text), string(out)
}

// Keys of the interactive shells complete verbs, flags, values, paths of ZooKeeper, and
// the command that is run under the lock.
func TestCompletionInShells(t *testing.T) {
	_, server := single(t)
	client := connect(t, server)
	for _, path := range []string{"/locks/backup", "/locks/a:b", "/locks/with space", "/other"} {
		require.NoError(t, client.CreateParents(within(t, limit), path))
		_, err := client.Create(within(t, limit), path, nil, framework.Persistent)
		require.NoError(t, err)
	}
	for _, shell := range shells {
		t.Run(shell.name, func(t *testing.T) {
			calls, shown := typed(t, shell.command, server, shell.setup,
				"zkrecipes rev\t/locks/ba\t --al\t",
				"zkrecipes ls /locks/a:\t --cyc\t",
				"zkrecipes help el\t",
				"zkrecipes show -o w\t /locks/ba\t",
				"zkrecipes run /locks/ba\t /oth\t --tr\t -- job-of\t",
				"zkrecipes elect /oth\t -- cat on\t",
				"zkrecipes run --perm\t3 --lock /locks/ba\t --tls-ca on\t -- job-of\t",
				"zkrecipes run --lock=/locks/a:\t --lock-d\t5s -- cat on\t",
				"zkrecipes run /locks/ba\t --perm\t2 /oth\t -- job-of\t on\t",
				"zkrecipes elect /oth\t --lis\t",
				"zkrecipes hold /oth\t /locks/ba\t",
				"zkrecipes ls -o w\t /oth\t",
				"zkrecipes run --servers 127.0.0.1:1 --lock /loc\t --tr\t -- job-of\t",
			)
			calls = strings.NewReplacer("--permits=", "--permits ", "--lock-delay=", "--lock-delay ").Replace(calls) // zsh writes it so
			assert.Equal(t, `revoke /locks/backup --all
ls /locks/a:b --cycles
help elect
show -o wide /locks/backup
run /locks/backup /other --try -- job-of-a-test
elect /other -- cat only.pem
run --permits 3 --lock /locks/backup --tls-ca only.pem -- job-of-a-test
run --lock=/locks/a:b --lock-delay 5s -- cat only.pem
run /locks/backup --permits 2 /other -- job-of-a-test only.pem
elect /other --listen
hold /other /locks/backup
ls -o wide /other
run --servers 127.0.0.1:1 --lock /loc --try -- job-of-a-test
`, calls, "%s", shown)
			assert.NotContains(t, shown, "refused")
			assert.NotContains(t, shown, "error")
		})
	}
}

// zsh also reads the script as a file of its search path.
func TestCompletionFileOfZsh(t *testing.T) {
	calls, shown := typed(t, "zsh -f -i", "",
		"zkrecipes completion zsh >_zkrecipes; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D",
		"zkrecipes rev\t --al\t",
		"zkrecipes vers\t --js\t")
	assert.Equal(t, "revoke --all\nversion --json\n", calls, "%s", shown)
}
