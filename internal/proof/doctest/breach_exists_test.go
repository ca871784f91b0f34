package doctest

import (
	"strings"
	"testing"
)

func TestWhatPagesNameIsHeld(t *testing.T) {
	t.Parallel()
	r := small(t, map[string]string{
		"docs/a.md": strings.Join([]string{
			"`TestA`, `TestX/sub`, `Example`, `ExampleT_M`, `Testing`, `Examples`",
			"`TestB`, `TestHidden`, `ExampleT_N`, `BenchmarkA`",   // 2
			"every recipe: \"a row\", \"another\"; every recipe:", // 3
			"\"no row\"", // 4
			"`make try`, `make try BENCH='a b'`, `BENCH=x make try`, `FUZZ=1`, `made`",                                                 // 5
			"`make tri`, `make try PEERS=1`, `true && make tri`",                                                                       // 6
			"`recipes/a`, `recipes/a/a.go`, `.ci/run`, `./recipes`, `a.md`, docs/a.md, `locks/a`, `recipes/*`, `recipes/...`, `bin/x`", // 7
			"`recipes/b`, `.ci/ran`, `none.md`, and docs/none.md.",                                                                     // 8
			"```sh",                        // 9
			"cd x && make tri  # make tro", // 10
			"make || echo",                 // 11
			"```",
		}, "\n"),
		"CONTRIBUTING.md": "`ZKRECIPES_LONG=1`, ZKRECIPES_BACKEND\nand ZKRECIPES_SHORT",
	})
	expect(t, checkTests, r, "docs/a.md", 8,
		"docs/a.md:2: there is no test TestB", "docs/a.md:2: there is no test TestHidden",
		"docs/a.md:2: there is no test ExampleT_N", "docs/a.md:2: there is no test BenchmarkA")
	expect(t, checkRows, r, "docs/a.md", 3, `docs/a.md:4: no suite has the row "no row"`)
	expect(t, checkMake, r, "docs/a.md", 9,
		"docs/a.md:6: the Makefile has no target tri", "docs/a.md:6: the Makefile does not use PEERS",
		"docs/a.md:6: the Makefile has no target tri", "docs/a.md:10: the Makefile has no target tri")
	expect(t, checkFiles, r, "docs/a.md", 9,
		"docs/a.md:8: there is no recipes/b", "docs/a.md:8: there is no .ci/ran",
		"docs/a.md:8: there is no none.md", "docs/a.md:8: there is no docs/none.md")
	expect(t, checkVariables, r, "CONTRIBUTING.md", 3, "CONTRIBUTING.md:2: nothing reads ZKRECIPES_SHORT")
}

func TestCommentsInCommandsAreHeld(t *testing.T) {
	t.Parallel()
	lines := "```sh\n# x\nmake try # y\necho a#b \"$#\" \\#\n```\n```go\na() # z\n```\n```sh\n\tmake\t#\n```\n"
	r := small(t, map[string]string{"docs/a.md": lines, "CONTRIBUTING.md": lines})
	expect(t, checkComments, r, "docs/a.md", 2,
		"docs/a.md:2: zsh would take", "docs/a.md:3: zsh would take", "docs/a.md:10: zsh would take")
	expect(t, checkComments, r, "CONTRIBUTING.md", 0)
}

func TestMetricsAreHeld(t *testing.T) {
	t.Parallel()
	r := small(t, map[string]string{
		ofPrograms:  "| metric | kind |\n|---|---|\n| `zkrecipes_wait_seconds` | histogram | `path` |\n| `zkrecipes_holds` | gauge | |\n",
		ofAnyClient: "| metric | labels |\n|---|---|\n| `zkrecipes_up` | | 1 |\n",
		ofOTel:      "| `zkrecipes.wait` |",
		"docs/a.md": "`zkrecipes_up`, `zkrecipes_` and\n```promql\nrate(zkrecipes_wait_seconds_bucket[1m]) > zkrecipes_holds\nzkrecipes_holds_sum\n```\n" +
			"zkrecipes_down\n`zkrecipes.wait`, `zkrecipes.held`, `zkrecipes.wait is`\n",
	})
	expect(t, checkMetrics, r, "docs/a.md", 7,
		"docs/a.md:4: there is no metric zkrecipes_holds_sum",
		"docs/a.md:6: there is no metric zkrecipes_down",
		"docs/a.md:7: contrib/otel/README.md does not have zkrecipes.held")
}
