package archtest

import (
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHouseRules applies every rule to this module.
func TestHouseRules(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot()
	require.NoError(t, err)
	m, err := loadModule(root)
	require.NoError(t, err)
	// An empty module would pass the rules below.
	require.Contains(t, m.packages, "retry", "the module was not read")

	for name, check := range map[string]func(*module) []violation{
		"imports go one way":                     checkDirection,
		"dependencies stay where they belong":    checkDependencies,
		"every exported name is documented":      checkDocs,
		"files are short and have telling names": checkShape,
		"most functions are short":               checkFunctions,
		"comments have one width":                checkComments,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report(t, check(m))
		})
	}

	t.Run("the API shows no other module's types", func(t *testing.T) {
		t.Parallel()
		fset := token.NewFileSet()
		pkgs, err := loadTypes(t.Context(), m, root, fset)
		if err != nil {
			t.Error(err)
		}
		report(t, checkAPI(m, root, pkgs, fset))
	})
}

func report(t *testing.T, found []violation) {
	t.Helper()
	for _, v := range found {
		t.Error(v)
	}
}
