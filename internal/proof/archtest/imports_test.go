package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

const (
	zkPath      = "github.com/go-zookeeper/zk"
	backoffPath = "github.com/cenkalti/backoff"
)

// layer orders the packages: imports go from greater to smaller.
type layer int

const (
	free       layer = iota // not ordered: what it imports counts for its importers
	testServer              // zktest: beside the others, not above or below
	retrying
	client
	extension // internal/kit: what only recipes may do with a client
	vocabulary
	lifetime
	queueing
	sharing // internal/locks, internal/recipepath: shared by recipes, above the queue
	acquisition
	recipe
	survey // inspect: above all recipes
	program
	proof
)

// layers lists the directories that are ordered. A package below one of them belongs to
// its layer; see unitOf.
var layers = map[string]layer{
	"zktest":              testServer,
	"retry":               retrying,
	"framework":           client,
	"internal/kit/bridge": free,
	"internal/kit":        extension,
	"recipes/lease":       vocabulary,
	"internal/hold":       lifetime,
	"internal/queue":      queueing,
	"internal/locks":      sharing,
	"internal/recipepath": sharing,
	"internal/acquire":    acquisition,
	"recipes":             recipe,
	"inspect":             survey,
	"cmd":                 program,
	"examples":            program,
	"internal/proof":      proof,
}

// leaves are the packages outside the order that recipes/lease may import, so that it
// stays at the bottom.
var leaves = []string{"internal/owner", "internal/protection", "internal/quote", "internal/znode"}

// unitOf returns the layer of the package in dir, and the unit within which imports are
// free: one recipe, one program, the framework.
func unitOf(dir string) (unit string, l layer) {
	for unit = dir; ; unit = unit[:strings.LastIndex(unit, "/")] {
		if l, listed := layers[unit]; listed {
			if rest, below := strings.CutPrefix(dir, unit+"/"); below && (l == recipe || l == program) {
				first, _, _ := strings.Cut(rest, "/")
				unit += "/" + first
			}
			return unit, l
		}
		if !strings.Contains(unit, "/") {
			return dir, free
		}
	}
}

// forbidden returns the rule by which the package in one directory must not import that
// in another, and how to fix it; or "" if it may.
func forbidden(from, to string) (rule, fix string) {
	fromUnit, fromLayer := unitOf(from)
	toUnit, toLayer := unitOf(to)
	switch {
	case fromUnit == toUnit:
		return "", ""
	case toLayer == proof:
		return "internal/proof is only for tests: no shipped package imports it",
			"move the use into a _test.go file, or the needed part out of internal/proof"
	case fromLayer == vocabulary && (toLayer == free || toLayer == retrying) && !slices.Contains(leaves, to):
		return "recipes/lease stays small: of our packages it imports only framework, " + strings.Join(leaves, ", "),
			"move the use up to internal/hold or internal/queue, or what it needs into one of these"
	case fromLayer == free || toLayer == free:
		return "", ""
	case fromLayer == testServer:
		return "zktest must not depend on the client that it tests",
			"write what is missing in zktest, or in its own internal package"
	case toLayer == testServer && fromLayer < program:
		return "zktest is for tests, programs and examples, never for library code",
			"move the use into a _test.go file"
	case toLayer == recipe && fromLayer == recipe:
		return "no recipe imports another",
			"move what both need to internal/acquire, or to a package beside internal/locks"
	case toLayer > fromLayer:
		return "imports go cmd, examples -> inspect -> recipes -> internal/acquire -> internal/{recipepath,locks} -> internal/queue -> internal/hold -> recipes/lease -> internal/kit -> framework -> retry",
			"move the needed part down, or hand it in from above as a parameter"
	default:
		return "", ""
	}
}

// checkDirection checks the import direction between our packages. An import through a
// package outside the order counts as well.
func checkDirection(m *module) []violation {
	var found []violation
	for _, p := range m.sorted() {
		for _, f := range p.code() {
			for _, spec := range f.ast.Imports {
				found = append(found, m.checkImport(p, f, spec)...)
			}
		}
	}
	return found
}

func (m *module) checkImport(p *pkg, f *file, spec *ast.ImportSpec) []violation {
	first, ours := m.dirOf(pathOf(spec))
	if !ours {
		return nil
	}
	var found []violation
	seen := map[string]bool{}
	var visit func(to string)
	visit = func(to string) {
		if seen[to] {
			return
		}
		seen[to] = true
		if rule, fix := forbidden(p.dir, to); rule != "" {
			detour := ""
			if to != first {
				detour = " by way of " + first
			}
			found = append(found, m.violation(f, spec.Pos(), fmt.Sprintf("%s imports %s%s: %s", p.dir, to, detour, rule), fix))
		}
		via := m.packages[to]
		if _, l := unitOf(to); l != free || via == nil {
			return // an ordered package answers for itself
		}
		for _, g := range via.code() {
			for _, next := range g.ast.Imports {
				if dir, ours := m.dirOf(pathOf(next)); ours {
					visit(dir)
				}
			}
		}
	}
	visit(first)
	return found
}

// checkDependencies checks which packages may import other modules.
func checkDependencies(m *module) []violation {
	var found []violation
	shipped := m.shipped()
	for _, p := range m.sorted() {
		unit, _ := unitOf(p.dir)
		for _, f := range p.code() {
			for _, spec := range f.ast.Imports {
				imported := pathOf(spec)
				_, ours := m.dirOf(imported)
				switch {
				case ours, isStandard(imported):
				case within(imported, zkPath):
					if unit != "framework" {
						found = append(found, m.violation(f, spec.Pos(), p.dir+" imports "+imported+": only framework may",
							"use or extend framework, which makes that client's calls safe"))
					}
				case within(imported, backoffPath):
					if unit != "retry" {
						found = append(found, m.violation(f, spec.Pos(), p.dir+" imports "+imported+": only retry may",
							"use a retry.Policy"))
					}
				case shipped[p.dir]:
					found = append(found, m.violation(f, spec.Pos(), p.dir+" imports "+imported+
						": a user's program must not need more than the standard library, zk and backoff",
						"move the use into a _test.go file or a nested module, or do without"))
				}
			}
		}
	}
	return found
}

func within(importPath, prefix string) bool {
	return importPath == prefix || strings.HasPrefix(importPath, prefix+"/")
}

// isStandard tells the standard library by the rule of the go command: a module that
// can be downloaded has a dot in the first element of its path.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}
