package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
)

// listed is the part of "go list -json" that is needed here.
type listed struct {
	ImportPath string
	Name       string
	Export     string // file with the compiler's export data
	Error      *struct{ Err string }
}

// loadTypes reads the API of the module's packages from the compiler's export data in
// the build cache. That is much faster than to check all types again.
func loadTypes(ctx context.Context, m *module, root string, fset *token.FileSet) ([]*types.Package, error) {
	list := exec.CommandContext(ctx, "go", "list", "-e", "-export", "-deps", "-json=ImportPath,Name,Export,Error", "./...")
	list.Dir = root
	list.Env = append(os.Environ(), "GOWORK=off") // this module alone
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}

	exports := map[string]string{}
	var own []string
	var failed []error
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		dir, ours := m.dirOf(p.ImportPath)
		if !ours || p.Name == "main" || m.packages[dir] == nil || len(m.packages[dir].code()) == 0 {
			continue
		}
		if p.Export == "" {
			failed = append(failed, fmt.Errorf("%s does not compile, so its API was not checked: %s", p.ImportPath, p.reason(stderr.String())))
			continue
		}
		own = append(own, p.ImportPath)
	}

	read := importer.ForCompiler(fset, "gc", func(importPath string) (io.ReadCloser, error) {
		if exports[importPath] == "" {
			return nil, fmt.Errorf("no export data for %s", importPath)
		}
		return os.Open(exports[importPath])
	})
	var pkgs []*types.Package
	for _, importPath := range own {
		p, err := read.Import(importPath)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		pkgs = append(pkgs, p)
	}
	return pkgs, errors.Join(failed...)
}

func (p listed) reason(stderr string) string {
	if p.Error != nil {
		return p.Error.Err
	}
	return strings.TrimSpace(stderr)
}
