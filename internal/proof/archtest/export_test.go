package archtest

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"

	"github.com/zkrecipes/zkrecipes/internal/proof/exportdata"
)

// loadTypes reads the API of the module's packages from the compiler's export data.
func loadTypes(ctx context.Context, m *module, root string, fset *token.FileSet) ([]*types.Package, error) {
	build, err := exportdata.Compile(ctx, root, "./...")
	if err != nil {
		return nil, err
	}
	read := build.Importer(fset)
	var pkgs []*types.Package
	var failed []error
	for _, p := range build.Packages {
		dir, ours := m.dirOf(p.ImportPath)
		if !ours || p.Name == "main" || m.packages[dir] == nil || len(m.packages[dir].code()) == 0 {
			continue
		}
		if p.Export == "" {
			failed = append(failed, fmt.Errorf("%s does not compile, so its API was not checked: %s", p.ImportPath, build.Reason(p)))
			continue
		}
		read, err := read.Import(p.ImportPath)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		pkgs = append(pkgs, read)
	}
	return pkgs, errors.Join(failed...)
}
