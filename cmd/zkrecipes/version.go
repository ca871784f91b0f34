package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

const helpVersion = `usage: zkrecipes version

Prints the version and the commit that zkrecipes was built from, and the Go version and system
it was built with.
`

// version prints the version, and how the program was built.
func (p *program) version(args []string) error {
	if len(args) > 0 {
		if args[0] == "--help" || args[0] == "-h" {
			return p.help([]string{"version"})
		}
		return usageErrorf("version takes no arguments")
	}
	return printLine(p.stdout, versionText(debug.ReadBuildInfo()))
}

func versionText(info *debug.BuildInfo, ok bool) string {
	version, commit, modified := "unknown version", "", ""
	if ok {
		if v := info.Main.Version; v != "" {
			version = v
		}
		for _, setting := range info.Settings {
			switch {
			case setting.Key == "vcs.revision":
				commit = ", commit " + setting.Value[:min(12, len(setting.Value))]
			case setting.Key == "vcs.modified" && setting.Value == "true":
				modified = ", with changes"
			}
		}
	}
	return fmt.Sprintf("zkrecipes %s%s%s, %s %s/%s", version, commit, modified, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
