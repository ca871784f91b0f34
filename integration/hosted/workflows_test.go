package hosted

import (
	"fmt"
	"go/version"
	"io/fs"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
)

type workflow struct {
	On          map[string]any    `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]job    `yaml:"jobs"`
}

type job struct {
	Timeout     int               `yaml:"timeout-minutes"`
	Permissions map[string]string `yaml:"permissions"`
	Steps       []step            `yaml:"steps"`
}

type step struct {
	Uses yaml.Node         `yaml:"uses"`
	Run  yaml.Node         `yaml:"run"`
	With map[string]string `yaml:"with"`
}

var (
	pinned     = regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40}$`)
	release    = regexp.MustCompile(`^# v\d+\.\d+\.\d+$`)
	scripts    = regexp.MustCompile(`\.ci/[\w-]+`)
	makeTarget = regexp.MustCompile(`\bmake +([\w-]+)`)
	goLine     = regexp.MustCompile(`(?m)^go (1\.\d+)`)
)

// checkWorkflows checks the rules that actionlint does not have.
func checkWorkflows(files fs.FS) (found []string, seen int, err error) {
	all, err := read[workflow](files, ".github/workflows/*.yml", false)
	if err != nil {
		return nil, 0, err
	}
	newest := map[string]bool{} // the versions of Go that workflows name
	for name, w := range all {
		if !maps.Equal(w.Permissions, map[string]string{"contents": "read"}) {
			found = append(found, name+": a workflow may only read contents; a job that needs more says so itself")
		}
		for _, event := range []string{"pull_request_target", "workflow_run"} {
			if _, ok := w.On[event]; ok {
				found = append(found, name+": "+event+" runs what a stranger proposes with the rights of this repository")
			}
		}
		for title, j := range w.Jobs {
			at := name + ": " + title + ": "
			seen += len(j.Steps)
			if j.Timeout == 0 {
				found = append(found, at+"no timeout-minutes")
			}
			for _, s := range j.Steps {
				for _, what := range append(wrongAction(j, s), wrongCommand(files, s.Run.Value)...) {
					found = append(found, fmt.Sprintf("%sline %d: %s", at, s.Uses.Line+s.Run.Line, what))
				}
				if v := s.With["go-version"]; v != "" {
					newest[v] = true
				}
			}
		}
	}
	return append(found, wrongGo(files, newest)...), seen, nil
}

// wrongAction checks that an action is pinned, and may do no more than it must.
func wrongAction(j job, s step) (wrong []string) {
	action, _, _ := strings.Cut(s.Uses.Value, "@")
	if action == "" {
		return nil
	}
	if !pinned.MatchString(s.Uses.Value) || !release.MatchString(s.Uses.LineComment) {
		wrong = append(wrong, s.Uses.Value+" is not pinned to a commit, with its release in a comment")
	}
	switch action {
	case "actions/checkout":
		if s.With["persist-credentials"] != "false" {
			wrong = append(wrong, "the checkout leaves its credentials behind")
		}
		if len(j.Permissions) > 0 {
			wrong = append(wrong, "a job that may write has code of this repository")
		}
	case "actions/setup-go":
		if (s.With["go-version-file"] == "go.mod") == (s.With["go-version"] != "") {
			wrong = append(wrong, "the version of Go is either that of go.mod or written out")
		}
	}
	return wrong
}

// wrongCommand checks that the scripts and make targets exist which a step calls.
func wrongCommand(files fs.FS, command string) (wrong []string) {
	for _, script := range scripts.FindAllString(command, -1) {
		info, err := fs.Stat(files, script)
		if err != nil || info.Mode()&0o111 == 0 {
			wrong = append(wrong, "there is no program "+script)
		}
	}
	makefile, _ := fs.ReadFile(files, "Makefile")
	for _, m := range makeTarget.FindAllStringSubmatch(command, -1) {
		if !strings.Contains(string(makefile), "\n"+m[1]+":") && !strings.HasPrefix(command, "apt-get ") {
			wrong = append(wrong, "the Makefile has no target "+m[1])
		}
	}
	return wrong
}

// wrongGo checks that all workflows name one release of Go, which is not older than that
// of go.mod.
func wrongGo(files fs.FS, named map[string]bool) (wrong []string) {
	if len(named) != 1 {
		wrong = append(wrong, fmt.Sprintf("the workflows name %d versions of Go, not one", len(named)))
	}
	mod, _ := fs.ReadFile(files, "go.mod")
	oldest := goLine.FindStringSubmatch(string(mod))
	for v := range named {
		language := "go" + strings.TrimSuffix(v, ".x")
		if oldest == nil || !version.IsValid(language) || version.Compare(language, "go"+oldest[1]) < 0 {
			wrong = append(wrong, v+" is no release of Go that go.mod admits")
		}
	}
	return wrong
}

func TestWorkflowsAreHeld(t *testing.T) {
	t.Parallel()
	const sha = "@3d3c42e5aac5ba805825da76410c181273ba90b1"
	file := func(lines ...string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n"))} }
	files := fstest.MapFS{
		"go.mod":   file("module x", "", "go 1.25.0"),
		"Makefile": file("", "dist: ## x"),
		".ci/run":  {Mode: 0o755},
		".ci/flat": {Mode: 0o644},
		".github/workflows/right.yml": file("permissions:", "  contents: read", "jobs:", "  a:", "    timeout-minutes: 5", "    steps:",
			"      - uses: actions/checkout"+sha+" # v7.0.1", "        with:", "          persist-credentials: false",
			"      - uses: actions/setup-go"+sha+" # v7.0.0", "        with:", "          go-version: 1.26.x",
			"      - run: .ci/run && make dist", "      - run: apt-get install make zip"),
	}
	expect(t, checkWorkflows, files)
	files[".github/workflows/wrong.yml"] = file("permissions: {}", "jobs:", "  a:", "    permissions:", "      contents: write", "    steps:",
		"      - uses: actions/checkout@v7",              // 7
		"      - uses: x/y"+sha,                          // 8
		"      - run: .ci/flat x && .ci/none",            // 9
		"      - run: make dust",                         // 10
		"      - uses: actions/setup-go"+sha+" # v7.0.0", // 11
		"        with:", "          go-version: 1.24.x",
		"on:", "  push:", "  pull_request_target:")
	expect(t, checkWorkflows, files,
		".github/workflows/wrong.yml: a workflow may only read contents; a job that needs more says so itself",
		".github/workflows/wrong.yml: pull_request_target runs what a stranger proposes with the rights of this repository",
		".github/workflows/wrong.yml: a: no timeout-minutes",
		".github/workflows/wrong.yml: a: line 7: actions/checkout@v7 is not pinned to a commit, with its release in a comment",
		".github/workflows/wrong.yml: a: line 7: the checkout leaves its credentials behind",
		".github/workflows/wrong.yml: a: line 7: a job that may write has code of this repository",
		".github/workflows/wrong.yml: a: line 8: x/y"+sha+" is not pinned to a commit, with its release in a comment",
		".github/workflows/wrong.yml: a: line 9: there is no program .ci/flat",
		".github/workflows/wrong.yml: a: line 9: there is no program .ci/none",
		".github/workflows/wrong.yml: a: line 10: the Makefile has no target dust",
		"the workflows name 2 versions of Go, not one",
		"1.24.x is no release of Go that go.mod admits")
	files[".github/workflows/wrong.yml"] = file("permissions:", "  contents: read", "jobs:", "  a:", "    timeout-minutes: 5", "    steps:",
		"      - uses: actions/setup-go"+sha+" # v7.0.0")
	expect(t, checkWorkflows, files, ".github/workflows/wrong.yml: a: line 7: the version of Go is either that of go.mod or written out")
}
