package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posagent/agent/doctor"
)

func doctorCommand() command {
	return command{
		name: "doctor", short: "find what is wrong, name the one cause, and say what to type",
		long: "Looks at configuration, clock, disk, key, journal, network, backend, register line, outbox, access and box. A check that depends on\n" +
			"one that failed is skipped: one cause is one failure. It works with and without the running terminal, ends within ten seconds, moves\n" +
			"no money, and opens no register line. Exit 0: nothing failed; 1: something did; 3: the configuration; 5: the terminal is not\n" +
			"enrolled; 9: the journal or its key. posagent explain ID says more about a check.",
		json: []string{"posagent.doctor/1"},
		examples: []string{
			"posagent doctor --config /etc/posagent/config.toml", "posagent doctor --only NET       # a group, or one id like PA-SER-002",
			"posagent doctor --fix            # also mends what is safe to mend, and says what", "posagent doctor --json",
		},
		flags: func(fs *flag.FlagSet) any {
			o := &doctorOptions{}
			fs.StringVar(&o.only, "only", "", "run the checks of these `names` alone: groups or ids, with commas between")
			fs.BoolVar(&o.fix, "fix", false, "mend what is safe: a missing state directory, the modes of the box's own files")
			fs.BoolVar(&o.strict, "strict", false, "exit 1 on a warning too")
			return o
		},
		run: runDoctor,
	}
}

type doctorOptions struct {
	only        string
	fix, strict bool
}

// heldName is the file in the state directory that remembers the last examination.
const heldName = "doctor.json"

func runDoctor(ctx context.Context, c *call) error {
	o := c.opts.(*doctorOptions)
	var names []string
	for name := range strings.SplitSeq(o.only, ",") {
		if name = strings.ToUpper(strings.TrimSpace(name)); name != "" {
			names = append(names, name)
		}
	}
	checks := doctor.Checks()
	if forbidden(c) {
		checks = doctor.OfStranger(checks)
	}
	list, shown, unknown := doctor.Chosen(checks, names)
	if unknown != "" {
		return fail(exitUsage, "doctor: no check and no group %q (groups: %s; an id is one such as %s; posagent explain lists all)", unknown,
			strings.Join(doctor.Groups(checks), ", "), checks[0].ID)
	}
	if o.fix {
		fixSafe(c)
	}
	f := gather(ctx, c)
	defer f.close()
	results := doctor.Examine(ctx, list, f.facts, doctor.Usual())
	if err := ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(c.stateDir(), heldName)
	held := doctor.Hold(doctor.ReadHeld(path), results, f.facts.Now)
	keepHeld(c, path, held)
	results = slices.DeleteFunc(results, func(r doctor.Result) bool { return !shown[r.ID] && r.Status != doctor.Fail })
	if c.json {
		if err := printJSON(c.out, struct {
			Schema string          `json:"schema"`
			Checks []doctor.Result `json:"checks"`
		}{"posagent.doctor/1", results}); err != nil {
			return err
		}
	} else {
		printDoctor(c.out, results, f.facts.Now, onTerminal(c.out))
	}
	return doctorExit(results, o.strict)
}

// keepHeld remembers the examination where the state directory is this user's. Nothing depends on it.
func keepHeld(c *call, path string, held map[string]doctor.Held) {
	if mayUse(c) != nil || ownerOf(c.stateDir()) != os.Geteuid() { // root may write anywhere, and leaves nothing with others
		return
	}
	if err := doctor.WriteHeld(path, held); err != nil {
		logger(c).Debug("examination not remembered", "err", err)
	}
}

// doctorExit is the exit code: that of the first failure.
func doctorExit(results []doctor.Result, strict bool) error {
	for _, r := range results {
		if r.Status != doctor.Fail {
			continue
		}
		switch {
		case r.ID == "PA-CFG-009":
			return exitWith(exitNotEnrolled, errors.New(""))
		case doctor.GroupOf(r.ID) == "CFG":
			return exitWith(exitConfig, errors.New(""))
		case r.ID == "PA-DB-005": // nothing is lost
		case doctor.GroupOf(r.ID) == "DB", slices.Contains([]string{"PA-KEY-001", "PA-KEY-002", "PA-KEY-004"}, r.ID):
			return exitWith(exitDamaged, errors.New(""))
		}
		return exitWith(exitFailed, errors.New(""))
	}
	if strict && doctor.Outcome(results) == doctor.Warn {
		return exitWith(exitFailed, errors.New(""))
	}
	return nil
}

// printDoctor writes the failures, the warnings, and a line per group.
func printDoctor(w io.Writer, results []doctor.Result, now time.Time, color bool) {
	paint := func(code, text string) string {
		if !color {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	waiting := map[string]int{}
	for _, r := range results {
		if id := r.Evidence[doctor.WaitsFor]; id != "" {
			waiting[id]++
		}
	}
	for _, want := range []doctor.Status{doctor.Fail, doctor.Warn} {
		for _, r := range results {
			if r.Status != want {
				continue
			}
			mark := paint("31", "FAIL")
			if want == doctor.Warn {
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

func printEvidence(w io.Writer, r doctor.Result, now time.Time) {
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
func printGroups(w io.Writer, results []doctor.Result) {
	type tally struct{ all, pass, fail, warn, wait, none int }
	var order []string
	count := map[string]*tally{}
	for _, r := range results {
		group := doctor.GroupOf(r.ID)
		if count[group] == nil {
			order, count[group] = append(order, group), &tally{}
		}
		t := count[group]
		t.all++
		switch {
		case r.Status == doctor.Pass:
			t.pass++
		case r.Status == doctor.Fail:
			t.fail++
		case r.Status == doctor.Warn:
			t.warn++
		case r.Evidence[doctor.WaitsFor] != "":
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
