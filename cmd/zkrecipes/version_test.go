//go:build unix

package main

import (
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Deps: []*debug.Module{{Path: "example.org/other", Version: "v9.9.9"}, {Path: "github.com/go-zookeeper/zk", Version: "v1.0.4"}},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-26T17:00:00Z"}, {Key: "vcs.modified", Value: "true"},
		},
	}
	first, rest, _ := strings.Cut(newBuild(info, true).String(), "\n")
	require.Regexp(t, `^zkrecipes v1\.2\.3, commit 0123456789ab, with changes, go\S+ \w+/\w+$`, first)
	require.Equal(t, `commit        0123456789abcdef
commit time   2026-11-26T17:00:00Z
changes       yes
go-zookeeper  v1.0.4
ZooKeeper     3.5.10 or newer; guarantees examined up to 3.9.5
`, rest)
	info.Settings[2].Value = "false"
	require.Contains(t, newBuild(info, true).String(), "zkrecipes v1.2.3, commit 0123456789ab, go")
	info.Deps[1].Replace = &debug.Module{Path: "example.org/fork", Version: "v1.0.5"}
	require.Equal(t, "v1.0.5", newBuild(info, true).GoZooKeeper)

	unknown := newBuild(nil, false)
	require.Regexp(t, `^zkrecipes unknown version, go\S+ \w+/\w+\ncommit        unknown\ncommit time   unknown\nchanges       unknown\ngo-zookeeper  unknown\n`, unknown)
}

func TestVersionOfThisProgram(t *testing.T) {
	var texts []string
	for _, name := range []string{"version", "--version", "-V"} {
		code, stdout, stderr := invoke(t, nil, name)
		require.Equal(t, 0, code)
		require.Empty(t, stderr)
		texts = append(texts, stdout)
	}
	require.True(t, strings.HasPrefix(texts[0], "zkrecipes "))
	require.Equal(t, []string{texts[0], texts[0]}, texts[1:])

	code, stdout, _ := invoke(t, nil, "version", "--json")
	require.Equal(t, 0, code)
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &fields))
	require.Len(t, fields, 9)
	for name := range fields {
		require.Contains(t, helpVersion, `"`+name+`"`)
	}
}

// What it says about ZooKeeper is what the documents say.
func TestVersionNamesTheReleasesOfTheDocuments(t *testing.T) {
	for file, text := range map[string]string{
		"../../README.md":          "ZooKeeper " + oldestZooKeeper + " or newer",
		"../../docs/guarantees.md": "ZooKeeper " + oldestZooKeeper + " to " + newestZooKeeper,
	} {
		all, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(all), text)
	}
}
