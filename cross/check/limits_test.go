package check

import (
	"go/ast"
	"go/token"
	"strconv"
	"testing"
	"time"
)

// pause is the longest literal time that is a pause between two looks, and no limit.
const pause = 50 * time.Millisecond

// waits are the calls that end a wait.
var waits = map[string]bool{
	"After": true, "NewTimer": true, "WithTimeout": true, "WithDeadline": true, "Eventually": true, "Eventuallyf": true, "Never": true,
	"SetDeadline": true, "SetReadDeadline": true, "SetWriteDeadline": true, "DialTimeout": true, "WithinDuration": true,
	"Less": true, "LessOrEqual": true, "Lessf": true,
}

// TestNoLimitIsALiteral: a test waits for the thing, in virtual time or within need.Limit, which grows with the load. A literal
// limit is a test that fails on a busy machine.
func TestNoLimitIsALiteral(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		report := func(n ast.Node, what string) {
			used[s.name] = true
			if timed[s.name] == "" {
				t.Errorf("%v: %s with a literal time: wait with cross/need, or in virtual time", s.at(n), what)
			}
		}
		outside(s.file, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || !waits[f.Sel.Name] {
					return
				}
				for _, arg := range n.Args {
					if d, found := literal(arg); found && d > pause {
						report(n, f.Sel.Name)
						return
					}
				}
			case *ast.KeyValueExpr: // http.Client{Timeout: …}
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Timeout" {
					if d, found := literal(n.Value); found && d > pause {
						report(n, key.Name)
					}
				}
			}
		})
	}
	for name := range timed {
		if !used[name] {
			t.Errorf("%s has no literal limit any more: remove it from timed", name)
		}
	}
}

var units = map[string]time.Duration{"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}

// literal is the time that an expression spells out, and whether it spells one out. Function literals are looked into by
// themselves.
func literal(e ast.Expr) (d time.Duration, found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			if n.Op != token.MUL {
				return true
			}
			if unit, ok := unitOf(n.Y); ok {
				factor, ok := n.X.(*ast.BasicLit)
				if !ok {
					return false // a factor that grows
				}
				if k, err := strconv.ParseInt(factor.Value, 0, 64); err == nil {
					d, found = max(d, time.Duration(k)*unit), true
				}
				return false
			}
		case *ast.SelectorExpr:
			if unit, ok := unitOf(n); ok {
				d, found = max(d, unit), true
			}
		}
		return true
	})
	return d, found
}

func unitOf(e ast.Expr) (time.Duration, bool) {
	x, name := selector(e)
	unit, ok := units[name]
	return unit, ok && x == "time"
}
