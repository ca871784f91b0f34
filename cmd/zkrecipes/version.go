package main

import (
	"cmp"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

const helpVersion = `usage: zkrecipes version [--json]
       zkrecipes --version
       zkrecipes -V

Prints what zkrecipes was built from and with. The first line has the version, the beginning of the
commit, and the Go version and system; those below have a name and a value each:

  commit        of the source code; "unknown" if it was not built from a git repository
  commit time   RFC 3339, UTC
  changes       whether the source code had changes that are not in the commit: yes, no or unknown
  go-zookeeper  the version of the library that speaks ZooKeeper's protocol
  ZooKeeper     the servers that it works with

  --json        one JSON object, which always has all of these fields: "version", "commit", "commit_time",
                "go", "os", "arch" and "go_zookeeper", strings, "" if it is not known; "modified", a
                boolean, null if it is not known; "zookeeper", an object with the strings "oldest", the
                oldest release that it works with, and "newest", the newest for which its guarantees have
                been examined. Fields may be added.

Exit codes: 0; 64 usage.
`

// The releases of ZooKeeper that the README and the guarantees are about.
const (
	oldestZooKeeper = "3.5.10"
	newestZooKeeper = "3.9.5"
)

// versionFlags is what the command line of "version" says.
type versionFlags struct{ json bool }

func (f *versionFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("version", flag.ContinueOnError)
	fs.BoolVar(&f.json, "json", false, "")
	return fs
}

// A build is the output of "version --json".
type build struct {
	Version     string    `json:"version"`
	Commit      string    `json:"commit"`
	CommitTime  string    `json:"commit_time"`
	Modified    *bool     `json:"modified"`
	Go          string    `json:"go"`
	OS          string    `json:"os"`
	Arch        string    `json:"arch"`
	GoZooKeeper string    `json:"go_zookeeper"`
	ZooKeeper   zooKeeper `json:"zookeeper"`
}

type zooKeeper struct {
	Oldest string `json:"oldest"`
	Newest string `json:"newest"`
}

// version prints what the program was built from.
func (p *program) version(args []string) error {
	f := &versionFlags{}
	fs := f.flagSet()
	if err := p.parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usageErrorf("version takes no arguments: what is %q?", fs.Arg(0))
	}
	b := thisBuild()
	if f.json {
		return p.printJSON(b)
	}
	_, err := p.stdout.WriteString(b.String())
	return err
}

func thisBuild() build { return newBuild(debug.ReadBuildInfo()) }

// newBuild reads what the Go tool has stored. Nothing is given to the linker, so every
// way to build the program says the same.
func newBuild(info *debug.BuildInfo, ok bool) build {
	b := build{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, ZooKeeper: zooKeeper{oldestZooKeeper, newestZooKeeper}}
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.time":
			b.CommitTime = setting.Value
		case "vcs.modified":
			modified := setting.Value == "true"
			b.Modified = &modified
		}
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/go-zookeeper/zk" {
			b.GoZooKeeper = dep.Version
			if dep.Replace != nil {
				b.GoZooKeeper = dep.Replace.Version
			}
		}
	}
	return b
}

// String is the output of "version".
func (b build) String() string {
	commit, changes := "", "unknown"
	if b.Commit != "" {
		commit = ", commit " + b.Commit[:min(12, len(b.Commit))]
	}
	switch {
	case b.Modified == nil:
	case *b.Modified:
		commit, changes = commit+", with changes", "yes"
	default:
		changes = "no"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "zkrecipes %s%s, %s %s/%s\n", cmp.Or(b.Version, "unknown version"), commit, b.Go, b.OS, b.Arch)
	out.WriteString(table{
		{"commit", cmp.Or(b.Commit, "unknown")},
		{"commit time", cmp.Or(b.CommitTime, "unknown")},
		{"changes", changes},
		{"go-zookeeper", cmp.Or(b.GoZooKeeper, "unknown")},
		{"ZooKeeper", fmt.Sprintf("%s or newer; guarantees examined up to %s", b.ZooKeeper.Oldest, b.ZooKeeper.Newest)},
	}.String())
	return out.String()
}
