package decisions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

// pack is the Go files of one package.
type pack struct {
	code, tests []*ast.File
}

// packs reads a package once.
type packs struct {
	mu   sync.Mutex
	read map[string]*pack
}

func (p *packs) of(t *testing.T, dir string) *pack {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.read[dir]; known != nil {
		return known
	}
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	require.NoError(t, err)
	got := &pack{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(dir), e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		if strings.HasSuffix(e.Name(), "_test.go") {
			got.tests = append(got.tests, file)
		} else {
			got.code = append(got.code, file)
		}
	}
	p.read[dir] = got
	return got
}

// split is a name like agent/outbox.Outbox.prepare: the package, and what stands in it.
func split(name string) (dir, what string) {
	dir, last := path.Split(name)
	pkg, what, _ := strings.Cut(last, ".")
	return dir + pkg, what
}

// receiver is the type that a method is of, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// function finds a function, "Name" or "Type.Name", or a method of an interface.
func (p *packs) function(t *testing.T, name string) bool {
	t.Helper()
	dir, what := split(name)
	typ, fn, method := strings.Cut(what, ".")
	if !method {
		typ, fn = "", what
	}
	for _, file := range p.of(t, dir).code {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == fn && receiver(f) == typ {
				return true
			}
		}
		if of, ok := typeOf(file, typ).(*ast.InterfaceType); ok {
			for _, m := range of.Methods.List {
				if len(m.Names) == 1 && m.Names[0].Name == fn {
					return true
				}
			}
		}
	}
	return false
}

// typeOf is the type of a name in a file, nil = it is not there.
func typeOf(file *ast.File, name string) ast.Expr {
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range gen.Specs {
			if spec, ok := s.(*ast.TypeSpec); ok && spec.Name.Name == name {
				return spec.Type
			}
		}
	}
	return nil
}

// fields are the fields of a struct, embedded ones by the name of their type.
func (p *packs) fields(t *testing.T, name string) (list []string) {
	t.Helper()
	dir, typ := split(name)
	for _, file := range p.of(t, dir).code {
		of, ok := typeOf(file, typ).(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range of.Fields.List {
			for _, n := range f.Names {
				list = append(list, n.Name)
			}
			if len(f.Names) == 0 {
				list = append(list, lastName(f.Type))
			}
		}
	}
	require.NotEmpty(t, list, "%s is no struct", name)
	return list
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return lastName(e.X)
	}
	return ""
}

// test finds a test, and says whether make test leaves it to make verify. One in a file with a build
// constraint runs on some machines alone, and counts as none.
func (p *packs) test(t *testing.T, name string) (found, verify bool) {
	t.Helper()
	dir, fn := split(name)
	for _, file := range p.of(t, dir).tests {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Name.Name != fn || !strings.HasPrefix(fn, "Test") || fn == "TestMain" || constrained(file) {
				continue
			}
			return true, leavesToVerify(f)
		}
	}
	return false, false
}

func constrained(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:build") {
				return true
			}
		}
	}
	return false
}

// leavesToVerify says whether a test begins with the words that leave it to make verify.
func leavesToVerify(f *ast.FuncDecl) (yes bool) {
	for _, s := range f.Body.List {
		var call ast.Expr
		switch s := s.(type) {
		case *ast.ExprStmt:
			call = s.X
		case *ast.AssignStmt:
			call = s.Rhs[0]
		}
		c, ok := call.(*ast.CallExpr)
		if !ok {
			continue
		}
		if sel, ok := c.Fun.(*ast.SelectorExpr); ok && lastName(sel.X) == "need" && (sel.Sel.Name == "Verify" || sel.Sel.Name == "Tool") {
			return true
		}
	}
	return false
}
