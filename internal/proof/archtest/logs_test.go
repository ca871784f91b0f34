package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var logRow = regexp.MustCompile("(?m)^\\| (INFO|WARN|ERROR) \\| `([^`]+)` \\|")

// The table of docs/operations.md has every message that the library logs, and no
// other.
func TestOperationsHasEveryLogMessage(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	require.NoError(t, err)
	var documented []string
	for _, row := range logRow.FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, row[1]+" "+row[2])
	}
	var logged []string
	for _, folder := range []string{"framework", "recipes", "internal", "inspect", "contrib", "retry", "labels"} {
		logged = append(logged, logMessages(t, filepath.Join(root, folder))...)
	}
	slices.Sort(documented)
	slices.Sort(logged)
	require.Equal(t, slices.Compact(logged), documented)
}

// logMessages returns the level and the text of each message that code below a folder
// logs, without those for debugging. A message that is no constant, or a method that is
// not called at once, cannot be compared, and fails.
func logMessages(t *testing.T, folder string) (all []string) {
	t.Helper()
	fset := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "proof" {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		called := map[ast.Expr]*ast.CallExpr{}
		ast.Inspect(file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				called[call.Fun] = call
			}
			method, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			at := fset.Position(method.Pos())
			if !isLogger(method.X) {
				if call := called[method]; call != nil && len(call.Args) > 0 && logging.MatchString(method.Sel.Name) {
					t.Errorf("%s: name a logger log or Logger: what %s logs is not seen here", at, types.ExprString(method.X))
				}
				return true
			}
			switch name := method.Sel.Name; name {
			case "Debug", "With", "Enabled":
			case "Info", "Warn", "Error":
				require.Contains(t, called, ast.Expr(method), "%s: call it where it is named", at)
				message, ok := called[method].Args[0].(*ast.BasicLit)
				require.True(t, ok, "%s: the message has to be a constant", at)
				text, err := strconv.Unquote(message.Value)
				require.NoError(t, err)
				all = append(all, strings.ToUpper(name)+" "+text)
			default:
				t.Errorf("%s: log with Debug, Info, Warn or Error, not with %s", at, name)
			}
			return true
		})
		return nil
	}))
	return all
}

// logging are the methods, and the functions of slog, that log. Those of other types
// that have these names take no argument.
var logging = regexp.MustCompile("^(Debug|Info|Warn|Error)(Context)?$|^LogAttrs$")

// isLogger reports whether an expression is a logger, by its name.
func isLogger(expr ast.Expr) bool {
	text := types.ExprString(expr)
	last := text[strings.LastIndex(text, ".")+1:]
	return slices.Contains([]string{"log", "Logger", "Logger()", "Default()"}, last)
}
