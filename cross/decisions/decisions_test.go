package decisions

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
	"posagent/store/storetest"
)

// faults are what is wrong with the table; a test names all of them at once.
type faults []string

func (f *faults) add(ok bool, format string, args ...any) {
	if !ok {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

// TestEachDecisionIsWhole: each kind of decision has a row, each row its deciding functions, its facts and
// a cell for each change, and each name in it leads somewhere.
func TestEachDecisionIsWhole(t *testing.T) {
	tree := &packs{read: map[string]*pack{}}
	seen, rows := map[string]bool{}, map[string]bool{}
	var wrong faults
	for _, d := range Table() {
		row := d.Deed + " " + d.Of
		wrong.add(!rows[row], "two rows are called %q", row)
		rows[row], seen[d.Deed] = true, true
		wrong.add(slices.Contains(Deeds(), d.Deed), "%s: no kind of decision is called so", row)
		wrong.add(len(d.By) > 0 && len(d.Facts) > 0, "%s: who decides, by what?", row)
		for _, f := range d.By {
			wrong.add(tree.function(t, f), "%s: there is no function %s", row, f)
		}
		wrong.add(len(d.On) == len(Changes()), "%s: a cell for each change", row)
		for i, change := range Changes() {
			wrong.judge(t, tree, row+", "+change, d.On[Change(i)])
		}
	}
	for _, deed := range Deeds() {
		wrong.add(seen[deed], "no row decides %q", deed)
	}
	require.Empty(t, wrong)
}

// judge says whether a cell is one of its three kinds, and whether its tests exist.
func (f *faults) judge(t *testing.T, tree *packs, where string, c Cell) {
	t.Helper()
	kinds := 0
	for _, text := range []string{c.Becomes, c.Cannot, c.Wrong} {
		if text != "" {
			kinds++
			f.add(len(strings.Fields(text)) >= 4, "%s: %q says nothing", where, text)
		}
	}
	f.add(kinds == 1, "%s: what becomes of it, or why it cannot be, or what is wrong", where)
	f.add(c.Becomes == "" || len(c.Tests) > 0, "%s: no test shows it", where)
	f.add(c.Cannot == "" || len(c.Tests) == 0, "%s: what cannot be has no test", where)
	f.exist(t, tree, where, c.Tests)
}

func (f *faults) exist(t *testing.T, tree *packs, where string, tests []string) {
	t.Helper()
	for _, name := range tests {
		found, _ := tree.test(t, name)
		f.add(found, "%s: there is no test %s that runs everywhere", where, name)
	}
}

// TestMoneyIsProvenByMakeTest: a cell that is run has a test of make test: nobody has to wait for the
// others.
func TestMoneyIsProvenByMakeTest(t *testing.T) {
	tree := &packs{read: map[string]*pack{}}
	var late faults
	for _, d := range Table() {
		for i, change := range Changes() {
			c := d.On[Change(i)]
			early := slices.ContainsFunc(c.Tests, func(name string) bool { _, verify := tree.test(t, name); return !verify })
			late.add(early || len(c.Tests) == 0, "%s %s, %s: only make verify runs it", d.Deed, d.Of, change)
		}
	}
	require.Empty(t, late)
}

// TestFactsStandWhereTheTableSays: in a column of the migrated journal, in the read of a service, in a
// setting of the example, in the request, or in the memory that is listed.
func TestFactsStandWhereTheTableSays(t *testing.T) {
	tree := &packs{read: map[string]*pack{}}
	columns := schema(t)
	example, err := os.ReadFile(filepath.Join(root, "agent", "config", "example.toml"))
	require.NoError(t, err)
	memory := map[string]bool{}
	for _, h := range Memory() {
		for _, p := range h.Places {
			for _, f := range strings.Fields(p.Fields) {
				memory[h.Of+"."+f] = true
			}
		}
	}
	stored := 0
	var lost faults
	for _, d := range Table() {
		for _, f := range d.Facts {
			where := fmt.Sprintf("%s %s, %s: %s", d.Deed, d.Of, f.What, f.Where)
			lost.add(f.What != "", "%s: what is read?", where)
			kind, name, _ := strings.Cut(f.Where, " ")
			switch kind {
			case "asked":
				lost.add(name == "", "%s: asked by whom?", where)
			case "read":
				lost.add(tree.function(t, name), "%s: there is no such read", where)
			case "setting":
				lost.add(isSetting(string(example), name), "%s: there is no such setting", where)
			case "memory":
				lost.add(memory[name], "%s: memory.go does not list it", where)
			default:
				stored++
				lost.add(columns[f.Where], "%s: the journal has no such column", where)
			}
		}
	}
	require.Empty(t, lost)
	require.Greater(t, stored, 20)
}

// schema is the tables of the terminal's journal, "table.column".
func schema(t *testing.T) map[string]bool {
	t.Helper()
	db := storetest.Open(t, agent.Schema()...)
	columns := map[string]bool{}
	require.NoError(t, db.Read(context.Background(), func(r store.Reader) error {
		return store.Each(r, func(row store.Row) error {
			var table, column string
			err := row.Scan(&table, &column)
			columns[table+"."+column] = true
			return err
		}, `SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'`)
	}))
	return columns
}

// isSetting says whether the example has a key, "[section] key".
func isSetting(example, name string) bool {
	section, key, _ := strings.Cut(name, " ")
	_, body, found := strings.Cut(example, "\n"+section+"\n")
	if next := strings.Index(body, "\n["); next >= 0 {
		body = body[:next]
	}
	return found && regexp.MustCompile(`(?m)^(# *)?`+regexp.QuoteMeta(key)+` *=`).MatchString(body)
}

// TestMemoryIsListed: each field of a struct of the running program is either set when it is made, or
// listed with what makes it harmless. No method changes one that is said to be set once.
func TestMemoryIsListed(t *testing.T) {
	tree := &packs{read: map[string]*pack{}}
	var open faults
	for _, h := range Memory() {
		listed := strings.Fields(h.Wired)
		for _, p := range h.Places {
			listed = append(listed, strings.Fields(p.Fields)...)
			open.add(p.Decides != "" && len(strings.Fields(p.Harmless)) >= 3, "%s.%s: what does it decide, and why is it harmless?", h.Of, p.Fields)
			open.exist(t, tree, h.Of+" "+p.Fields, p.Tests)
		}
		fields := tree.fields(t, h.Of)
		for _, f := range fields {
			open.add(slices.Contains(listed, f), "%s.%s is not listed: is it set once, or does it change?", h.Of, f)
		}
		for _, f := range listed {
			open.add(slices.Contains(fields, f), "%s has no field %s", h.Of, f)
		}
		open.add(len(listed) == len(fields), "%s: a field is listed twice", h.Of)
		for _, field := range tree.changed(t, h.Of) {
			open.add(!slices.Contains(strings.Fields(h.Wired), field), "%s.%s changes while the program runs: list it as a place", h.Of, field)
		}
	}
	require.Empty(t, open)
}

// changed are the fields of a struct that one of its methods sets.
func (p *packs) changed(t *testing.T, name string) (list []string) {
	t.Helper()
	dir, typ := split(name)
	for _, file := range p.of(t, dir).code {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || receiver(f) != typ || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			me := f.Recv.List[0].Names[0].Name
			set := func(e ast.Expr) {
				if index, ok := e.(*ast.IndexExpr); ok {
					e = index.X
				}
				if sel, ok := e.(*ast.SelectorExpr); ok && lastName(sel.X) == me {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == me {
						list = append(list, sel.Sel.Name)
					}
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, e := range n.Lhs {
						set(e)
					}
				case *ast.IncDecStmt:
					set(n.X)
				case *ast.CallExpr:
					if fn, ok := n.Fun.(*ast.Ident); ok && fn.Name == "delete" {
						set(n.Args[0])
					}
					if fn, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Store", "Swap", "CompareAndSwap"}, fn.Sel.Name) {
						set(fn.X)
					}
				}
				return true
			})
		}
	}
	return list
}

// TestThePageSaysWhatTheTableSays: README.md is the table for reading. DECISIONS=write writes it anew.
func TestThePageSaysWhatTheTableSays(t *testing.T) {
	page := Page()
	if os.Getenv("DECISIONS") == "write" {
		require.NoError(t, os.WriteFile("README.md", []byte(page), 0o644))
	}
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, []byte(page)), "README.md says something else: DECISIONS=write go test ./cross/decisions writes it anew")
}
