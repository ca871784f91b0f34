package archtest

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestTableOfRecipesIsHeld(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"recipes/a/a.go":      {Data: []byte("package a\n\nfunc TestNone() {}\n")},
		"recipes/a/a_test.go": {Data: []byte("package a\n\nfunc TestA(t *testing.T) {}\n\nfunc Example() {}\n\nfunc TestAB(t *testing.T) {}\n\n// func TestC(t *testing.T) {}\n")},
	}
	others := [][]string{columnCurator: {"One", "Two"}, columnRedisson: {"getOne"}, columnEtcd: {"Three"}}
	page := func(rows ...string) string {
		return "# Page\n\n| x | y |\n|---|---|\n| elsewhere | no table of recipes |\n\n## Which recipes\n\nProse.\n\n" +
			"| for | Curator | Redisson | etcd | here |\n|---|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n\n## Next\n\n| x | y |\n|---|---|\n| a | b |\n"
	}
	good := []string{
		"| this | `One`, all | `getOne` (old) | | yes: [`a`](../recipes/a): [`TestA`](../recipes/a/a_test.go), [`Example`](../recipes/a/a_test.go) |",
		"| that | | | `Three` | no: [it](https://example.com/TestA) is not needed |",
		"| more | `Two` | | | planned |",
	}
	expect(t, checkRecipes(page(good...), files, others))

	for _, row := range []struct{ here, want string }{
		{"yes", "a row of recipes has no answer"},
		{"yes: always", "a yes has no test"},
		{"yes: [`a`](../recipes/a)", "a yes has no test"},
		{"yes: [`TestA`](https://example.com/a_test.go)", "a yes has no test"},
		{"soon", "a row of recipes has no answer"},
		{"", "a row of recipes has no answer"},
		{"no", "a row of recipes has no answer"},
		{"not yet: wait", "a row of recipes has no answer"},
		{"no: see [`b`](../recipes/b)", "recipes/b does not exist"},
		{"no | planned", "a row of recipes has not five cells"},
		{"no: see [`TestNone`](../recipes/a/a.go)", "TestNone and recipes/a/a.go do not fit"},
		{"no: see [`a`](../recipes/a/a_test.go)", "a and recipes/a/a_test.go do not fit"},
		{"no: see [`TestB`](../recipes/a/a_test.go)", "TestB is not in recipes/a/a_test.go"},
		{"no: see [`TestC`](../recipes/a/a_test.go)", "TestC is not in recipes/a/a_test.go"},
	} {
		want := []string{"docs/recipes.md:14: " + row.want}
		if row.here == "yes" {
			want = append(want, "docs/recipes.md:14: a yes has no test")
		}
		expect(t, checkRecipes(page(good[0], "| it | | | | "+row.here+" |", good[1], good[2]), files, others), want...)
	}

	expect(t, checkRecipes(page(good[0], good[1]), files, others), "docs/recipes.md:1: the table of recipes does not have Two")
	expect(t, checkRecipes(page(good[0], good[1], "| more | | `Two` | | planned |"), files, others),
		"docs/recipes.md:1: the table of recipes does not have Two")
	expect(t, checkRecipes(page(), files, others), "docs/recipes.md:1: there is no table of recipes")
}
