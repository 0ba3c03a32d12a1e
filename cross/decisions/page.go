package decisions

import (
	"fmt"
	"slices"
	"strings"
)

// Counts are of the cells of the table.
type Counts struct {
	Decisions, Cells    int
	Run, Cannot, Wrong  int
	Tests               int // different ones
	Holders, Kept, Once int // structs; fields that change; fields that are set once
}

// Count counts.
func Count() Counts {
	var c Counts
	tests := map[string]bool{}
	for _, d := range Table() {
		c.Decisions++
		for _, cell := range d.On {
			c.Cells++
			switch {
			case cell.Cannot != "":
				c.Cannot++
			case cell.Wrong != "":
				c.Wrong++
			default:
				c.Run++
			}
			for _, t := range cell.Tests {
				tests[t] = true
			}
		}
	}
	c.Tests = len(tests)
	for _, h := range Memory() {
		c.Holders++
		c.Once += len(strings.Fields(h.Wired))
		for _, p := range h.Places {
			c.Kept += len(strings.Fields(p.Fields))
		}
	}
	return c
}

// Page is the table as README.md.
func Page() string {
	var b strings.Builder
	c := Count()
	b.WriteString("# The decisions about money\n\n")
	b.WriteString("Made of the table in this package; its tests hold it equal, and hold each function, column, read,\nsetting and test in it to the tree.\n\n")
	fmt.Fprintf(&b, "%d decisions, %d changes, %d cells: %d are run by %d tests, %d cannot happen, %d are known to be wrong.\n",
		c.Decisions, len(Changes()), c.Cells, c.Run, c.Tests, c.Cannot, c.Wrong)
	fmt.Fprintf(&b, "%d structs hold what a run knows: %d fields change, %d are set once.\n", c.Holders, c.Kept, c.Once)
	if c.Wrong > 0 {
		b.WriteString("\n## Known to be wrong\n\n")
		for _, d := range Table() {
			for i, change := range Changes() {
				if w := d.On[Change(i)].Wrong; w != "" {
					fmt.Fprintf(&b, "- **%s, %s; %s.** %s\n", d.Deed, d.Of, change, w)
				}
			}
		}
	}
	for _, deed := range Deeds() {
		for _, d := range Table() {
			if d.Deed == deed {
				d.write(&b)
			}
		}
	}
	b.WriteString("\n## What a run knows beside the journal\n")
	for _, h := range Memory() {
		fmt.Fprintf(&b, "\n### %s\n\n| fields | decides | harmless, because | shown by |\n|---|---|---|---|\n", h.Of)
		for _, p := range h.Places {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code(strings.Fields(p.Fields)), p.Decides, p.Harmless, shown(p.Tests))
		}
		fmt.Fprintf(&b, "\nSet once: %s.\n", code(strings.Fields(h.Wired)))
	}
	return b.String()
}

func (d Decision) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s: %s\n\nDecided by %s.\n\n| reads | where |\n|---|---|\n", d.Deed, d.Of, code(d.By))
	for _, f := range d.Facts {
		fmt.Fprintf(b, "| %s | `%s` |\n", f.What, f.Where)
	}
	b.WriteString("\n| when | it becomes | shown by |\n|---|---|---|\n")
	for i, change := range Changes() {
		switch c := d.On[Change(i)]; {
		case c.Cannot != "":
			fmt.Fprintf(b, "| %s | cannot happen: %s | – |\n", change, c.Cannot)
		case c.Wrong != "":
			fmt.Fprintf(b, "| %s | **wrong:** %s | %s |\n", change, c.Wrong, shown(c.Tests))
		default:
			fmt.Fprintf(b, "| %s | %s | %s |\n", change, c.Becomes, shown(c.Tests))
		}
	}
}

// shown are tests, those of a package together.
func shown(tests []string) string {
	var parts []string
	last := ""
	for _, t := range slices.Sorted(slices.Values(tests)) {
		at := strings.LastIndex(t, ".")
		if pkg := t[:at]; pkg != last {
			parts, last = append(parts, pkg+" `"+t[at+1:]+"`"), pkg
			continue
		}
		parts = append(parts, "`"+t[at+1:]+"`")
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, ", ")
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
