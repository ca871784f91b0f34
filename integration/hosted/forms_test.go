package hosted

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A form has the keys that we use, of those that GitHub knows.
type form struct {
	Name        string    `yaml:"name"`
	Description string    `yaml:"description"`
	Body        []element `yaml:"body"`
	// Of config.yml:
	Blank *bool     `yaml:"blank_issues_enabled"`
	Links []contact `yaml:"contact_links"`
}

type contact struct {
	Name  string `yaml:"name"`
	URL   string `yaml:"url"`
	About string `yaml:"about"`
}

type element struct {
	Type       string `yaml:"type"`
	ID         string `yaml:"id"`
	Attributes struct {
		Value       string `yaml:"value"`
		Label       string `yaml:"label"`
		Description string `yaml:"description"`
		Placeholder string `yaml:"placeholder"`
		Render      string `yaml:"render"`
	} `yaml:"attributes"`
	Validations struct {
		Required bool `yaml:"required"`
	} `yaml:"validations"`
}

const (
	chooser  = ".github/ISSUE_TEMPLATE/config.yml"
	privacy  = "Take passwords and host names out"
	advisory = "https://github.com/zkrecipes/zkrecipes/security/advisories/new"
)

// checkForms checks what GitHub demands of a form, which it does not show otherwise, and
// that who pastes a log is reminded of what is in it.
func checkForms(files fs.FS) (found []string, seen int, err error) {
	all, err := read[form](files, ".github/ISSUE_TEMPLATE/*.yml", true)
	if err != nil {
		return nil, 0, err
	}
	if !slices.ContainsFunc(all[chooser].Links, func(c contact) bool { return c.URL == advisory }) {
		found = append(found, chooser+": no link to where a security fault is reported")
	}
	for name, f := range all {
		if name == chooser {
			for _, l := range f.Links {
				if seen++; l.Name == "" || l.URL == "" || l.About == "" {
					found = append(found, fmt.Sprintf("%s: a link has name, url and about: %v", name, l))
				}
			}
			continue
		}
		seen += len(f.Body)
		for _, what := range wrongForm(f) {
			found = append(found, name+": "+what)
		}
	}
	return found, seen, nil
}

func wrongForm(f form) (wrong []string) {
	if f.Name == "" || f.Description == "" {
		wrong = append(wrong, "no name or no description")
	}
	var ids []string
	pastes, reminds := false, false
	for i, e := range f.Body {
		a := e.Attributes
		pastes = pastes || a.Render != ""
		reminds = reminds || strings.Contains(a.Value, privacy)
		valid := e.Type == "markdown" && a.Value != "" && a.Label == "" ||
			slices.Contains([]string{"textarea", "input"}, e.Type) && a.Label != "" && e.ID != "" && !slices.Contains(ids, e.ID)
		if !valid {
			wrong = append(wrong, fmt.Sprintf("element %d is not valid", i+1))
		}
		ids = append(ids, e.ID)
	}
	if !slices.ContainsFunc(f.Body, func(e element) bool { return e.Type != "markdown" }) {
		wrong = append(wrong, "nothing to fill in")
	}
	if pastes && !reminds {
		wrong = append(wrong, "asks for a log, and does not say: "+privacy)
	}
	return wrong
}

func TestFormsAreHeld(t *testing.T) {
	t.Parallel()
	text := func(lines ...string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n"))} }
	const folder = ".github/ISSUE_TEMPLATE/"
	files := fstest.MapFS{
		chooser: text("contact_links:", "  - {name: a, url: "+advisory+", about: b}"),
		folder + "right.yml": text("name: a", "description: b", "body:",
			"  - {type: markdown, attributes: {value: "+privacy+"}}",
			"  - {type: textarea, id: a, attributes: {label: a, render: text}, validations: {required: true}}"),
	}
	expect(t, checkForms, files)
	files[chooser] = text("contact_links:", "  - {name: a, url: b}")
	files[folder+"empty.yml"] = text("name: a", "body:", "  - {type: markdown, attributes: {value: a}}")
	files[folder+"wrong.yml"] = text("name: a", "description: b", "body:",
		"  - {type: textarea, id: a, attributes: {label: a, render: text}}",
		"  - {type: textarea, id: a, attributes: {label: a}}",
		"  - {type: area, id: b, attributes: {label: a}}",
		"  - {type: input, id: c}",
		"  - {type: markdown, attributes: {label: a}}")
	expect(t, checkForms, files,
		chooser+": no link to where a security fault is reported",
		chooser+": a link has name, url and about: {a b }",
		folder+"empty.yml: no name or no description", folder+"empty.yml: nothing to fill in",
		folder+"wrong.yml: element 2 is not valid", folder+"wrong.yml: element 3 is not valid",
		folder+"wrong.yml: element 4 is not valid", folder+"wrong.yml: element 5 is not valid",
		folder+"wrong.yml: asks for a log, and does not say: "+privacy)
	files[folder+"wrong.yml"] = text("name: a", "summary: b")
	_, _, err := checkForms(files)
	require.ErrorContains(t, err, "field summary not found")
}
