package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"posagent/agent/control"
	"posagent/agent/doctor"
	"posagent/agent/doctor/exam"
	"posagent/schemes/wire"
)

func doctorCommand() command {
	return command{
		name: "doctor", short: "find what is wrong, name the one cause, and say what to type",
		long: "Looks at configuration, clock, disk, key, journal, network, backend, register line, outbox, access and box. A check that depends on\n" +
			"one that failed is skipped: one cause is one failure. It works with and without the running terminal, ends within ten seconds, moves\n" +
			"no money, and opens no register line. Exit 0: nothing failed; 1: something did; 3: the configuration; 5: the terminal is not\n" +
			"enrolled; 9: the journal or its key. posagent explain ID says more about a check.",
		json: []string{exam.Schema},
		examples: []string{
			"posagent doctor --config /etc/posagent/config.toml", "posagent doctor --only NET       # a group, or one id like PA-SER-002",
			"posagent doctor --fix            # also mends what is safe to mend, and says what", "posagent doctor --json",
			"posagent doctor --print          # a page that tells which settings of [printer] are wrong",
		},
		flags: func(fs *flag.FlagSet) any {
			o := &doctorOptions{}
			fs.StringVar(&o.only, "only", "", "run the checks of these `names` alone: groups or ids, with commas between")
			fs.BoolVar(&o.fix, "fix", false, "mend what is safe: a missing state directory, the modes of the box's own files")
			fs.BoolVar(&o.print, "print", false, "first print a page on which each fault of the printer names the setting that mends it; the terminal must be running")
			fs.BoolVar(&o.strict, "strict", false, "exit 1 on a warning too")
			return o
		},
		run: runDoctor,
	}
}

type doctorOptions struct {
	only               string
	fix, print, strict bool
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
	list, shown, unknown := exam.Chosen(checks, names)
	if unknown != "" {
		return fail(exitUsage, "doctor: no check and no group %q (groups: %s; an id is one such as %s; posagent explain lists all)", unknown,
			strings.Join(exam.Groups(checks), ", "), checks[0].ID)
	}
	if o.fix {
		fixSafe(c)
	}
	if o.print {
		if err := printTest(ctx, c); err != nil {
			return err
		}
	}
	f := gather(ctx, c)
	defer f.close()
	results := exam.Examine(ctx, list, f.facts, exam.Usual())
	if err := ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(c.stateDir(), heldName)
	held := exam.Hold(exam.ReadHeld(path), results, f.facts.Now)
	keepHeld(c, path, held)
	results = slices.DeleteFunc(results, func(r exam.Result) bool { return !shown[r.ID] && r.Status != exam.Fail })
	if c.json {
		if err := printJSON(c.out, exam.Report{Schema: exam.Schema, Checks: results}); err != nil {
			return err
		}
	} else {
		exam.Print(c.out, results, f.facts.Now, onTerminal(c.out))
	}
	return doctorExit(results, o.strict)
}

// printTest lets the running terminal print its test page, and says what became of it beside what the checks say.
func printTest(ctx context.Context, c *call) error {
	waits, err := (&control.Client{Path: controlSocket(c)}).PrintTest(ctx)
	switch e := (*wire.Error)(nil); {
	case errors.As(err, &e) && e.Code == wire.Conflict:
		return fail(exitRefused, "%s: %s", c.path, e.Msg)
	case err != nil:
		return refused(c, err)
	case waits != "":
		fmt.Fprintf(c.err, "the print test waits for the printer: %s\n", waits)
	default:
		fmt.Fprintln(c.err, "the print test is printed: each line of it names the setting of [printer] that mends what is wrong there")
	}
	return nil
}

// keepHeld remembers the examination where the state directory is this user's. Nothing depends on it.
func keepHeld(c *call, path string, held map[string]exam.Held) {
	if mayUse(c) != nil || ownerOf(c.stateDir()) != os.Geteuid() { // root may write anywhere, and leaves nothing with others
		return
	}
	if err := exam.WriteHeld(path, held); err != nil {
		logger(c).Debug("examination not remembered", "err", err)
	}
}

// doctorExit is the exit code: that of the first failure.
func doctorExit(results []exam.Result, strict bool) error {
	for _, r := range results {
		if r.Status != exam.Fail {
			continue
		}
		switch {
		case r.ID == "PA-CFG-009":
			return exitWith(exitNotEnrolled, errors.New(""))
		case exam.GroupOf(r.ID) == "CFG":
			return exitWith(exitConfig, errors.New(""))
		case r.ID == "PA-DB-005": // nothing is lost
		case exam.GroupOf(r.ID) == "DB", slices.Contains([]string{"PA-KEY-001", "PA-KEY-002", "PA-KEY-004"}, r.ID):
			return exitWith(exitDamaged, errors.New(""))
		}
		return exitWith(exitFailed, errors.New(""))
	}
	if strict && exam.Outcome(results) == exam.Warn {
		return exitWith(exitFailed, errors.New(""))
	}
	return nil
}
