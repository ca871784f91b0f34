package doctest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGoBlocksAreHeld(t *testing.T) {
	t.Parallel()
	w, err := load(t.Context(), above, map[string]bool{"context": true, "sql": true, "testing": true, "fmt": true, "time": true})
	require.NoError(t, err)
	compile := func(pages ...Page) ([]Problem, int) {
		all, found := parse(pages)
		return append(found, w.checkAll(all)...), len(all)
	}
	block := func(info, text string) string { return "```" + info + "\n" + text + "\n```\n" }
	for _, c := range []struct {
		name, page string
		blocks     int
		want       []string
	}{
		{"statements", block("go", "orders, err := mutex.New(client, \"/a\")\nif err != nil {\n\treturn nil, err\n}\nlater := 3"), 1, nil},
		{"imports in front of statements", block("go", "import (\n\t\"time\"\n)\n\n_, err = mutex.New(client, \"/a\")\n_ = time.Second\nreturn err"), 1, nil},
		{"an import too many", block("go", "import \"time\"\n\nreturn client.Close()"), 1, []string{`a.md:2: this Go block does not compile: "time" imported and not used`}},
		{"declarations", block("go", "type T struct{ db *sql.DB }\n\nfunc (t *T) Do(ctx context.Context) error { return t.db.PingContext(ctx) }"), 1, nil},
		{"a whole file", block("go", "// Command x.\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }"), 1, nil},
		{"a whole file that imports too little", block("go", "package main\n\nfunc main() { fmt.Println(1) }"), 1, []string{"a.md:4: this Go block does not compile: undefined: fmt"}},
		{"a name that does not exist", block("go", "err = held.Releasee()"), 1, []string{"a.md:2: this Go block does not compile: held.Releasee undefined"}},
		{"a variable inside that is not used", block("go", "if err != nil {\n\tx := 1\n}"), 1, []string{"a.md:3: this Go block does not compile: declared and not used: x"}},
		{"no Go", block("go", "held.\n…"), 0, []string{"a.md:3: this Go block cannot be parsed: illegal character U+2026"}},
		{"a mistake at the end", block("go", "if err != nil {"), 0, []string{"a.md:2: this Go block cannot be parsed: "}},
		{"of another library", block("go other", "held."), 0, nil},
		{"another name of Go", block("golang", "x") + block("go ours", "x"), 0, []string{"a.md:1: a block of golang", "a.md:4: a block of go ours"}},
		{"an earlier block", block("go", "x, err := 1, err") + block("go", "_ = x\nx, err := \"\", err\n_ = x + \"\"") + block("go", "return fmt.Errorf(x)"), 3, nil},
		{
			"a mistake is found once", block("go", "x := none") + block("go", "_ = x") + block("go", "_ = y"), 3,
			[]string{"a.md:2: this Go block does not compile: undefined: none", "a.md:8: this Go block does not compile: undefined: y"},
		},
		{"declared again", block("go", "type T int\n\nfunc (T) A() {}") + block("go", "type T string\n\nfunc (t T) A() string { return string(t) }") + block("go", "_ = T(\"\").A() + \"\""), 3, nil},
		{"hidden", "<!-- go: var f func() error -->\n\n" + block("go", "return f()"), 2, nil},
		{"a hidden mistake", "\n<!-- go: var f func() none -->\n", 1, []string{"a.md:2: this Go block does not compile: undefined: none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, blocks := compile(NewPage("a.md", c.page))
			assert.Equal(t, c.blocks, blocks)
			expectProblems(t, found, c.want...)
		})
	}
	_, blocks := compile(NewPage("a.md", block("go", "x := 1")), NewPage("b.md", block("go", "_ = 1")))
	require.Equal(t, 2, blocks)
	found, _ := compile(NewPage("a.md", block("go", "x := 1")), NewPage("b.md", block("go", "_ = x")))
	expectProblems(t, found, "b.md:2: this Go block does not compile: undefined: x")
}
