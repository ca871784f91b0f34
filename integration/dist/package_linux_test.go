package dist

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allFiles lists what is in the container, but for what dpkg and the kernel keep.
const allFiles = `find / -xdev -path /proc -prune -o -path /sys -prune -o -path /tmp -prune -o \
	-path '/var/lib/dpkg*' -prune -o -path '/var/log/*' -prune -o -print | sort`

func TestPackageInstallsRunsAndIsRemoved(t *testing.T) {
	container := start(t, "--network", "none", debian(t), "sleep", "infinity")
	docker(t, "cp", built(t, "_"+runtime.GOARCH+".deb"), container+":/tmp/zkrecipes.deb")
	before := script(t, container, allFiles)
	script(t, container, "dpkg --install /tmp/zkrecipes.deb")
	require.NotEqual(t, before, script(t, container, allFiles))

	require.True(t, strings.HasPrefix(script(t, container, "zkrecipes version"), "zkrecipes v"+version(t)+", commit "))
	require.Equal(t, "changes       no", script(t, container, "zkrecipes version | grep ^changes"))
	require.Empty(t, script(t, container, "dpkg --verify zkrecipes"))
	require.Empty(t, script(t, container, `find $(dpkg --listfiles zkrecipes | grep zkrecipes) ! \( -uid 0 -gid 0 \) -o -perm /022`))
	require.Contains(t, script(t, container, "zcat /usr/share/man/man1/zkrecipes-run.1.gz"), `.TH "ZKRECIPES-RUN" 1`)
	require.Contains(t, script(t, container, "zcat /usr/share/doc/zkrecipes/changelog.gz"), "zkrecipes ("+debianVersion(t, "v"+version(t))+")")
	copyright := script(t, container, "cat /usr/share/doc/zkrecipes/copyright")
	for _, part := range []string{"/usr/share/common-licenses/Apache-2.0", "The Go Authors", "go-zookeeper/zk", "cenkalti/backoff"} {
		require.Contains(t, copyright, part)
	}

	// As a user's shell does at the first Tab.
	require.Contains(t, script(t, container, `source /usr/share/bash-completion/bash_completion
		_completion_loader zkrecipes || [ $? = 124 ]
		COMP_WORDS=(zkrecipes vers) COMP_CWORD=1 COMP_LINE="zkrecipes vers" COMP_POINT=14
		complete -p zkrecipes | sed -n 's/.* -F \([^ ]*\) .*/\1/p' >/tmp/function
		$(cat /tmp/function) zkrecipes vers zkrecipes
		echo "${COMPREPLY[@]}"`), "version")

	require.Equal(t, "done", script(t, container, `coproc zkrecipes testserver --port 0
		read -r address <&"${COPROC[0]}"
		zkrecipes run --quiet --servers "$address" /locks/x -- echo done
		kill "$COPROC_PID"`))

	script(t, container, "dpkg --remove zkrecipes")
	require.Equal(t, before, script(t, container, allFiles))
}

func debianVersion(t *testing.T, version string) string {
	t.Helper()
	out, err := exec.Command("../../.ci/debian-version", version).Output() // #nosec G204
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// dpkg has the order of Go, in which these are.
func TestDebianVersionsSortLikeThoseOfGo(t *testing.T) {
	order := []string{
		"v0.0.0-20261127060950-ede1ad689e12", "v0.0.0-20261128000000-000000000000", "v0.1.0-rc.1", "v0.1.0",
		"v0.1.1-0.20261128000000-ede1ad689e12", "v0.1.1-alpha", "v0.1.1-alpha.1", "v0.1.1-beta.2", "v0.1.1-beta.10",
		"v0.1.1-rc.1", "v0.1.1-rc.1.0.20261129000000-ede1ad689e12", "v0.1.1-rc.2", "v0.1.1", "v0.1.10", "v0.2.0", "v1.0.0",
	}
	for i := range order[1:] {
		earlier, later := debianVersion(t, order[i]), debianVersion(t, order[i+1])
		out, err := exec.Command("dpkg", "--compare-versions", earlier, "lt", later).CombinedOutput() // #nosec G204
		require.NoError(t, err, "%s is not before %s: %s", earlier, later, out)
	}
	for _, wrong := range []string{"1.2.3", "v1.2", "v1.2.3+dirty", "v1.2.3-rc 1", ""} {
		require.Error(t, exec.Command("../../.ci/debian-version", wrong).Run(), wrong) // #nosec G204
	}
}
