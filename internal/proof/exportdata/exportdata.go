// Package exportdata reads the types of packages from what the compiler has written
// about them into the build cache. That is much faster than to check all types again.
package exportdata

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

// A Package is the part of "go list -json" that is needed here.
type Package struct {
	ImportPath string // unique
	Name       string // as in its package clause
	Export     string // the file with the compiler's export data, "" if there is none
	// Error is set if it cannot be compiled, but not always.
	Error *struct {
		Err string // why
	}
}

// A Build is packages that were compiled, with all that they import.
type Build struct {
	Packages []Package // each behind those that it imports
	exports  map[string]string
	stderr   string
}

// Compile has the go command compile packages of the module in dir, named by patterns
// as for "go list". One that does not compile is listed without export data.
func Compile(ctx context.Context, dir string, patterns ...string) (*Build, error) {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-e", "-export", "-deps", "-json=ImportPath,Name,Export,Error"}, patterns...)...)
	list.Dir = dir
	list.Env = append(os.Environ(), "GOWORK=off") // this module alone
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	b := &Build{exports: map[string]string{}, stderr: strings.TrimSpace(stderr.String())}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return b, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		b.Packages = append(b.Packages, p)
		b.exports[p.ImportPath] = p.Export
	}
}

// Importer returns what imports the compiled packages, each once.
func (b *Build) Importer(fset *token.FileSet) types.Importer {
	return importer.ForCompiler(fset, "gc", func(importPath string) (io.ReadCloser, error) {
		if b.exports[importPath] == "" {
			return nil, fmt.Errorf("no export data for %s", importPath)
		}
		return os.Open(b.exports[importPath])
	})
}

// Reason says why a package has no export data.
func (b *Build) Reason(p Package) string {
	if p.Error != nil {
		return p.Error.Err
	}
	return b.stderr
}
