package exam

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Print writes the failures, the warnings, and a line per group.
func Print(w io.Writer, results []Result, now time.Time, color bool) {
	paint := func(code, text string) string {
		if !color {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	waiting := map[string]int{}
	for _, r := range results {
		if id := r.Evidence[WaitsFor]; id != "" {
			waiting[id]++
		}
	}
	for _, want := range []Status{Fail, Warn} {
		for _, r := range results {
			if r.Status != want {
				continue
			}
			mark := paint("31", "FAIL")
			if want == Warn {
				mark = paint("33", "WARN")
			}
			fmt.Fprintf(w, "%s %s  expected: %s\n", mark, r.ID, r.Title)
			printEvidence(w, r, now)
			fmt.Fprintf(w, "     do      %s\n     type    %s\n", r.Remedy.Text, r.Remedy.Command)
			if n := waiting[r.ID]; n > 0 {
				fmt.Fprintf(w, "     behind  %d check(s) wait for it\n", n)
			}
			fmt.Fprintln(w)
		}
	}
	printGroups(w, results)
}

func printEvidence(w io.Writer, r Result, now time.Time) {
	if text := r.Evidence["seen"]; text != "" {
		fmt.Fprintf(w, "     seen    %s\n", text)
	}
	var more []string
	for _, name := range slices.Sorted(maps.Keys(r.Evidence)) {
		if name != "seen" && name != "cause" {
			more = append(more, name+"="+r.Evidence[name])
		}
	}
	if len(more) > 0 {
		fmt.Fprintf(w, "     with    %s\n", strings.Join(more, "  "))
	}
	if age := now.Sub(r.Since); age >= time.Second {
		fmt.Fprintf(w, "     since   %s (%s)\n", r.Since.Local().Format("2006-01-02 15:04:05"), age.Round(time.Second))
	}
}

// printGroups writes a line per group: how many of its checks passed, and what became of the others.
func printGroups(w io.Writer, results []Result) {
	type tally struct{ all, pass, fail, warn, wait, none int }
	var order []string
	count := map[string]*tally{}
	for _, r := range results {
		group := GroupOf(r.ID)
		if count[group] == nil {
			order, count[group] = append(order, group), &tally{}
		}
		t := count[group]
		t.all++
		switch {
		case r.Status == Pass:
			t.pass++
		case r.Status == Fail:
			t.fail++
		case r.Status == Warn:
			t.warn++
		case r.Evidence[WaitsFor] != "":
			t.wait++
		default:
			t.none++
		}
	}
	for _, group := range order {
		t := count[group]
		line := fmt.Sprintf("%-4s %d of %d pass", group, t.pass, t.all)
		for _, x := range []struct {
			n    int
			what string
		}{{t.fail, "fail"}, {t.warn, "warn"}, {t.wait, "wait"}, {t.none, "not needed here"}} {
			if x.n > 0 {
				line += fmt.Sprintf(", %d %s", x.n, x.what)
			}
		}
		fmt.Fprintln(w, line)
	}
}
