package check

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestImportTable(t *testing.T) {
	all := packages(t)
	used := make([]bool, len(rooms))
	for _, p := range all {
		i := slices.IndexFunc(rooms, func(r room) bool { return matches(r.packages, p.Path, p.Path) })
		if i < 0 {
			t.Errorf("%s has no row in the import table", p.Path)
			continue
		}
		used[i] = true
		for _, imp := range p.Imports {
			to := relative(imp)
			if to != "" && !matchesAny(rooms[i].may, p.Path, to) {
				t.Errorf("%s imports %s: not in its row (%s)", p.Path, to, rooms[i].why)
			}
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			if to := relative(imp); to != p.Path && matches("cmd/...", "", to) && !matches("cmd/...", "", p.Path) {
				t.Errorf("the tests of %s import %s: cmd is run as a binary", p.Path, to)
			}
		}
	}
	for i, r := range rooms {
		require.NotEmpty(t, r.why, r.packages)
		if !used[i] {
			t.Errorf("the import table's row %q matches no package any more", r.packages)
		}
		for _, may := range r.may {
			if may != ".." && !slices.ContainsFunc(all, func(p pkg) bool { return matches(may, "", p.Path) }) {
				t.Errorf("the import table's row %q allows %q, which is no package any more", r.packages, may)
			}
		}
	}
}

// An engine is named where a program is assembled, once per package: everything else knows the contract.
func TestEnginesAreNamedOnce(t *testing.T) {
	named := map[string]bool{}
	for _, s := range sources(t) {
		dir := path.Dir(s.name)
		if s.test || matchesAny([]string{"store/...", "cross/..."}, dir, dir) {
			continue
		}
		for _, imp := range s.file.Imports {
			to := relative(strings.Trim(imp.Path.Value, `"`))
			if !strings.HasPrefix(to, "store/") || to == "store/move" { // which knows none
				continue
			}
			named[s.name] = true
			if engines[s.name] == "" {
				t.Errorf("%s imports %s: store is the contract, and an engine is named in %v alone", s.name, to, slices.Sorted(maps.Keys(engines)))
			}
		}
	}
	for name := range engines {
		if !named[name] {
			t.Errorf("%s names no engine any more: remove it from engines", name)
		}
	}
}

func TestThirdPartyTable(t *testing.T) {
	all := packages(t)
	for _, p := range all {
		require.Empty(t, p.CgoFiles, "%s uses cgo", p.Path)
		suite := matchesAny(suites, p.Path, p.Path)
		for _, imp := range p.Imports {
			switch row := moduleOf(imp); {
			case relative(imp) == "cross/need" && suite: // a suite waits as the tests that it is part of
			case relative(imp) == "cross/need" || relative(imp) == "cross/check":
				t.Errorf("%s is built with %s: for tests only", p.Path, imp)
			case inside(imp, testOnly):
				if !suite {
					t.Errorf("%s is built with %s: for tests only", p.Path, imp)
				}
			case standard(imp), relative(imp) != "", inside(imp, anywhere):
			case row == nil:
				t.Errorf("%s imports %s, which has no row in the third-party table", p.Path, imp)
			case !matchesAny(row.importers, p.Path, p.Path):
				t.Errorf("%s imports %s: %v alone may (%s)", p.Path, imp, row.importers, row.why)
			}
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			row := moduleOf(imp)
			if !standard(imp) && relative(imp) == "" && !inside(imp, anywhere) && !inside(imp, testOnly) &&
				(row == nil || !matchesAny(row.importers, p.Path, p.Path)) {
				t.Errorf("the tests of %s import %s, which has no row for them", p.Path, imp)
			}
		}
	}
	for _, m := range modules {
		require.NotEmpty(t, m.why, m.path)
		for _, importer := range m.importers {
			if !slices.ContainsFunc(all, func(p pkg) bool {
				return matches(importer, "", p.Path) && slices.ContainsFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), func(i string) bool { return inside(i, []string{m.path}) })
			}) {
				t.Errorf("the third-party table's row %s names %s, which does not import it any more", m.path, importer)
			}
		}
	}
}

// inside reports whether an import path is one of the paths or below one.
func inside(importPath string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return importPath == p || strings.HasPrefix(importPath, p+"/") })
}

func moduleOf(importPath string) *module {
	for i := range modules {
		if inside(importPath, []string{modules[i].path}) {
			return &modules[i]
		}
	}
	return nil
}

func TestCoresDoNoIO(t *testing.T) {
	forbidden := []string{"os", "net", "database/sql", "io/fs", "io/ioutil", "log", "log/slog", "syscall", "golang.org/x/sys", "math/rand", "crypto/rand"}
	all := packages(t)
	for _, core := range cores {
		i := slices.IndexFunc(all, func(p pkg) bool { return p.Path == core })
		if i < 0 {
			t.Errorf("the CORE %s is no package any more", core)
			continue
		}
		for _, imp := range all[i].Imports {
			if inside(imp, forbidden) {
				t.Errorf("the CORE %s imports %s", core, imp)
			}
		}
	}
}

// TestPatterns holds the matcher to what the table's head says about it.
func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, from, pkg string
		want               bool
	}{
		{"agent", "", "agent", true},
		{"agent", "", "agent/outbox", false},
		{"agent/...", "", "agent", true},
		{"agent/...", "", "agent/checkout/drive", true},
		{"agent/...", "", "agents", false},
		{"schemes/*", "", "schemes/aapay", true},
		{"schemes/*", "", "schemes/aapay/aapaytest", false},
		{"schemes/*/*test", "", "schemes/aapay/aapaytest", true},
		{"schemes/*/*test", "", "schemes/backend/books", false},
		{"..", "schemes/aapay/aapaytest", "schemes/aapay", true},
		{"..", "schemes/aapay/aapaytest", "schemes/methods", false},
	} {
		require.Equal(t, tc.want, matches(tc.pattern, tc.from, tc.pkg), "%+v", tc)
	}
	require.True(t, standard("net/http"))
	require.False(t, standard("posagent/store"))
	require.False(t, standard("github.com/google/uuid"))
}
