package check

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_N3EachProgramMasksWhatLibrariesPrint: each program that is shipped directs package log before it does anything else, and no
// other place directs it: a library's words reach its log without what came over a network.
func TestField2_N3EachProgramMasksWhatLibrariesPrint(t *testing.T) {
	programs := 0
	for _, s := range sources(t) {
		if s.test || !strings.HasPrefix(s.name, "cmd/") && !strings.HasPrefix(s.name, "agent/") && !strings.HasPrefix(s.name, "schemes/") {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			calls := called(f)
			if s.file.Name.Name == "main" && f.Name.Name == "main" {
				programs++
				require.NotEmpty(t, calls, s.name)
				require.Equal(t, "usage.Libraries", calls[0], s.at(f))
				continue
			}
			if s.name != "cmd/usage/library.go" {
				require.NotContains(t, calls, "log.SetOutput", s.at(f))
				require.NotContains(t, calls, "slog.SetDefault", s.at(f))
			}
		}
	}
	require.Equal(t, 3, programs)
}

// called are the functions of packages that a function calls, in their order.
func called(f *ast.FuncDecl) (list []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok {
					list = append(list, pkg.Name+"."+sel.Sel.Name)
				}
			}
		}
		return true
	})
	return list
}
