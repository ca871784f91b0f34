package archtest

import (
	"fmt"
	"path"
	"strings"
)

// maxLines is where a file stops being readable in one sitting. The aim is 250.
const maxLines = 400

// emptyNames say nothing about what is inside, so that anything ends up there.
var emptyNames = map[string]bool{
	"util": true, "utils": true, "helper": true, "helpers": true,
	"common": true, "manager": true, "base": true,
}

// checkShape holds the size of files and the names of files and packages.
func checkShape(m *module) []violation {
	var found []violation
	for _, p := range m.sorted() {
		for _, f := range p.files {
			if !f.test && f.lines > maxLines {
				found = append(found, violation{
					f.path, f.lines, fmt.Sprintf("file has %d lines, the limit is %d", f.lines, maxLines),
					"split it by subject into files whose names say which",
				})
			}
			if name := emptyName(f.ast.Name.Name, path.Base(f.path)); name != "" {
				found = append(found, m.violation(f, f.ast.Name.Pos(), fmt.Sprintf("the name %q says nothing", name),
					"name it for what it does"))
			}
		}
		if name := emptyName(strings.Split(p.dir, "/")...); name != "" {
			f := p.files[0]
			found = append(found, m.violation(f, f.ast.Name.Pos(), fmt.Sprintf("the folder name %q says nothing", name),
				"name it for what it does"))
		}
	}
	return found
}

// emptyName returns the first name that has one of the emptyNames as a word.
func emptyName(names ...string) string {
	for _, name := range names {
		words := strings.FieldsFunc(strings.ToLower(strings.TrimSuffix(name, ".go")), func(r rune) bool {
			return r == '_' || r == '-' || r == '.'
		})
		for _, word := range words {
			if emptyNames[word] {
				return name
			}
		}
	}
	return ""
}
