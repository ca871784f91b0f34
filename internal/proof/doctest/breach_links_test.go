package doctest

import (
	"strings"
	"testing"
)

func TestLinksAreHeld(t *testing.T) {
	t.Parallel()
	r := small(t, map[string]string{
		"README.md": "# One\n\n[docs](docs/a.md)\n",
		"docs/a.md": strings.Join([]string{
			"# What it is: `a`, and [why](../README.md)?", // 1
			"[fine](../README.md#one), [here](#what-it-is-a-and-why), [folder](../recipes), [out](https://example.com/x#y)",
			"[`TestA`](../recipes/a_test.go), [Example](../recipes/a_test.go) [`ExampleT_M`](../recipes/a_test.go \"title\")", // 3
			"code `[x](none.md)`, a link over two [lines",                                                                     // 4
			"of text](none.md)",                 // 5
			"",                                  // 6
			"| [cell](../gone) | redis |",       // 7
			"|---|---|",                         // 8
			"",                                  // 9
			"[root](/docs/a.md)",                // 10
			"[above](../../other/a.md)",         // 11
			"[anchor](../README.md#two)",        // 12
			"[anchor](#what-it-is)",             // 13
			"[anchor](../recipes/a/a.go#L3)",    // 14
			"[`TestB`](../recipes/a_test.go)",   // 15
			"[`TestC`](../recipes/a_test.go)",   // 16
			"## Again",                          // 17
			"## Again",                          // 18
			"[fine](#again-1), [not](#again-2)", // 19
			"![picture](none.svg)",              // 20
			"[ref]: none.md",                    // 21
			"```text",
			"[block](none.md)",
			"```",
		}, "\n"),
		"docs/b.md": "",
	})
	expect(t, checkLinks, r, "docs/a.md", 20,
		"docs/a.md:5: there is no none.md",
		"docs/a.md:7: there is no ../gone",
		"docs/a.md:10: there is no /docs/a.md",
		"docs/a.md:11: there is no ../../other/a.md",
		"docs/a.md:12: there is no heading for the anchor #two in README.md",
		"docs/a.md:13: there is no heading for the anchor #what-it-is in docs/a.md",
		"docs/a.md:14: there is no heading for the anchor #L3",
		"docs/a.md:15: TestB is not in recipes/a_test.go",
		"docs/a.md:16: TestC is not in recipes/a_test.go",
		"docs/a.md:19: there is no heading for the anchor #again-2",
		"docs/a.md:20: there is no none.svg",
		"docs/a.md:21: there is no none.md",
	)
	const own = "https://github.com/zkrecipes/zkrecipes/"
	expect(t, checkLinks, small(t, map[string]string{
		"docs/a.md": "# One\n",
		".github/ISSUE_TEMPLATE/a.yml": strings.Join([]string{
			"value: |", "  [fine](" + own + "blob/main/docs/a.md#one), <" + own + "tree/main/recipes>",
			"url: " + own + "blob/main/docs/a.md#two", // 3
			"[gone](" + own + "tree/main/docs/b.md)",  // 4
			"[out](" + own + "security/advisories/new)",
		}, "\n"),
		".github/workflows/no.yml": own + "blob/main/none",
	}), ".github/ISSUE_TEMPLATE/a.yml", 4,
		".github/ISSUE_TEMPLATE/a.yml:3: there is no heading for the anchor #two in docs/a.md",
		".github/ISSUE_TEMPLATE/a.yml:4: there is no "+own+"tree/main/docs/b.md")
	expect(t, checkReferences, small(t, map[string]string{"docs/c.md": strings.Join([]string{
		"What [r1] says, and [r2]", // 1
		"and [r3], `[r4]`, [x].",   // 2
		"",
		"[r1]: https://example.com/1",
		"[r3]: https://example.com/3",
		"[r5]: https://example.com/5", // 6
	}, "\n")}), "docs/c.md", 3, "docs/c.md:1: [r2] leads nowhere", "docs/c.md:6: nothing refers to [r5]")
	expectProblems(t, checkOrphans(r), "docs/b.md:1: no reader finds this page")
}
