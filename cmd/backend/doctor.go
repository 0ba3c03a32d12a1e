package backend

import (
	"context"
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posagent/agent/doctor/exam"
	"posagent/cmd/usage"
)

type doctorOptions struct {
	only, listen string
	tolerate     string
	strict       bool
}

func (o *doctorOptions) register(fs *flag.FlagSet) {
	fs.StringVar(&o.only, "only", "", "run the checks of these `names` alone: groups or ids, with commas between")
	fs.StringVar(&o.listen, "listen", "", "`host:port` that the backend listens on (default: [backend] listen)")
	tolerateVar(fs, &o.tolerate)
	fs.BoolVar(&o.strict, "strict", false, "exit 1 on a warning too")
}

// doctorVerb finds what is wrong with a backend.
func doctorVerb() usage.Command[*Call] {
	return usage.Command[*Call]{
		Verb: usage.Verb{
			Name: "doctor", Short: "find what is wrong, name the one cause, and say what to type",
			Long: "Looks at directory, configuration, address, books and deliveries. A check that depends on one that failed is skipped: one cause is one\n" +
				"failure. It works with and without the running backend, ends within ten seconds, and changes nothing. Where something failed it\n" +
				"ends with the code of the cause, as every verb does. explain ID says more about a check.",
			JSON:     []string{exam.Schema},
			Examples: []string{"PROGRAM doctor WHERE", "PROGRAM doctor WHERE --only BKS       # a group, or one id like PA-DIR-002", "PROGRAM doctor WHERE --json"},
		},
		Options: func(c *Call, fs *flag.FlagSet) { c.doctor.register(fs) }, Run: runDoctor,
	}
}

func runDoctor(ctx context.Context, c *Call) error {
	o := &c.doctor
	var names []string
	for name := range strings.SplitSeq(o.only, ",") {
		if name = strings.ToUpper(strings.TrimSpace(name)); name != "" {
			names = append(names, name)
		}
	}
	checks := Checks(c.Server)
	list, shown, unknown := exam.Chosen(checks, names)
	if unknown != "" {
		return usage.Fail(usage.ExitUsage, "doctor: no check and no group %q (groups: %s; an id is one such as %s)", unknown,
			strings.Join(exam.Groups(checks), ", "), checks[0].ID)
	}
	tolerated, err := c.tolerate()
	if err != nil {
		return err
	}
	f := gather(ctx, c)
	f.tolerated = tolerated
	results := exam.Examine(ctx, list, f, exam.Usual())
	if err := ctx.Err(); err != nil {
		return err
	}
	exam.Hold(nil, results, f.Now)
	results = slices.DeleteFunc(results, func(r exam.Result) bool { return !shown[r.ID] && r.Status != exam.Fail })
	if c.JSON {
		if err := usage.PrintJSON(c.Out, exam.Report{Schema: exam.Schema, Checks: results}); err != nil {
			return err
		}
	} else {
		exam.Print(c.Out, results, f.Now, c.Window)
	}
	return c.doctorExit(results)
}

// doctorExit is the exit code: that of the first failure.
func (c *Call) doctorExit(results []exam.Result) error {
	quiet := func(code int) error { return &usage.Exit{Code: code, Err: errors.New("")} }
	for _, r := range results {
		if r.Status != exam.Fail {
			continue
		}
		switch code, known := c.Server.Codes[r.ID]; {
		case known:
			return quiet(code)
		case r.ID == "PA-SET-001", r.ID == "PA-SET-002":
			return quiet(usage.ExitConfig)
		case slices.Contains([]string{"PA-DIR-005", "PA-BKS-003", "PA-BKS-005"}, r.ID):
			return quiet(usage.ExitDamaged)
		}
		return quiet(usage.ExitFailed)
	}
	if c.doctor.strict && exam.Outcome(results) == exam.Warn {
		return quiet(usage.ExitFailed)
	}
	return nil
}

// gather makes the facts. What takes time is asked when the first check needs it.
func gather(ctx context.Context, c *Call) *Facts {
	f := &Facts{Now: time.Now().UTC().Truncate(time.Millisecond), Program: c.Program, Built: c.Built, Server: c.Server, shared: c.Engine.Shared}
	cfg, err := c.Config()
	f.Config, f.ConfigErr = cfg, err
	f.Dir, _ = filepath.Abs(c.Dir(cfg)) // it fails where this process has no directory
	f.Listen = c.doctor.listen
	if f.Listen == "" {
		f.Listen = cfg.Backend.Listen
	}
	f.flags = " --state " + f.Dir
	if c.State != "" {
		f.flags = " --state " + c.State
	}
	f.ask(ctx, c.at(f.Dir))
	return f
}
