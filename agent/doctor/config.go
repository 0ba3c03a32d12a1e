package doctor

import (
	"context"
	"fmt"
	"strings"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

// Commands of several checks.
const (
	checkConfig = "posagent config check{flags}"
	showConfig  = "posagent config show{flags}"
)

// configChecks are about the configuration. Each error of it belongs to exactly one of them.
func configChecks() []Check {
	return []Check{
		{
			ID: "PA-CFG-001", Severity: exam.Critical, Command: "posagent config example",
			Look: func(ctx context.Context, f *Facts) Finding {
				if f.Config.Named || f.Daemon.Running || f.Journal(ctx).State != NoJournal {
					return exam.Passed("file", f.Config.File)
				}
				return exam.Failed("seen", "no terminal has run here, and no configuration is named")
			},
		},
		{
			ID: "PA-CFG-002", Severity: exam.Critical, After: []string{"PA-CFG-001"}, Command: checkConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Config.NoRecord != "" {
					found := f.said(ready.Trouble{Cause: ready.NoRecord, Detail: f.Config.NoRecord})
					return found.Typed(found.Do, "posagent enroll{flags} CODE --url URL")
				}
				return f.problems(isSyntax)
			},
		},
		{
			ID: "PA-CFG-003", Severity: exam.Critical, After: []string{"PA-CFG-002"}, Command: checkConfig,
			Look: func(_ context.Context, f *Facts) Finding { return f.problems(isUnknown) },
		},
		{
			ID: "PA-CFG-004", Severity: exam.Critical, After: []string{"PA-CFG-002"}, Command: checkConfig,
			Look: func(_ context.Context, f *Facts) Finding { return f.problems(isSecret) },
		},
		{
			ID: "PA-CFG-005", Severity: exam.Critical, After: []string{"PA-CFG-003", "PA-CFG-004"}, Command: checkConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				return f.problems(func(p Problem) bool { return !isSyntax(p) && !isUnknown(p) && !isSecret(p) && !p.NoFile })
			},
		},
		{
			ID: "PA-CFG-006", Severity: exam.Critical, After: []string{"PA-CFG-005"}, Command: checkConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				if found := f.problems(func(p Problem) bool { return p.NoFile }); found.Status == exam.Fail {
					return found
				}
				return exam.FailedIf(f.Config.Files != "", f.Config.Files)
			},
		},
		{
			ID: "PA-CFG-007", Severity: exam.Minor, After: []string{"PA-CFG-003"}, Command: showConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				return exam.WarnedIf(len(f.Config.Ignored) > 0, "not used: "+strings.Join(f.Config.Ignored, " "))
			},
		},
		{
			ID: "PA-CFG-011", Severity: exam.Major, After: []string{"PA-CFG-005"}, Command: checkConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				return exam.FailedIf(len(f.Config.Twice) > 0, strings.Join(f.Config.Twice, "; "))
			},
		},
		{
			ID: "PA-CFG-009", Severity: exam.Critical, After: []string{"PA-CFG-005"}, Command: "posagent enroll{flags} CODE --url URL",
			Look: func(_ context.Context, f *Facts) Finding {
				if not := f.Daemon.Report.NotReady; not != nil && (not.Cause == ready.Unenrolled || not.Cause == ready.Enrolling || not.Cause == ready.NotTrusted || not.Cause == ready.Replaced) {
					return exam.Failed("seen", not.Words, "cause", string(not.Cause)).Typed(not.Remedy, "")
				}
				if f.Config.Unenrolled && !f.Daemon.Running {
					return f.said(ready.Trouble{Cause: ready.Unenrolled})
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-CFG-008", Severity: exam.Major, After: []string{"PA-CFG-005", "PA-CFG-009"}, Command: "posagent status{flags}",
			Look: func(_ context.Context, f *Facts) Finding {
				d, c := f.Daemon, f.Config
				if t := f.suffers(ready.ConfigChanged); d.Running && t != nil {
					return exam.Failed(evidence(t)...).Typed(t.Remedy, checkConfig)
				}
				if !d.Running || !d.Told || !c.Named {
					return exam.Nothing("no terminal runs, or no configuration is named")
				}
				if not := d.Report.NotReady; not != nil && not.Cause == ready.NotConfirmed {
					return exam.Nothing("the terminal answers no register before it is confirmed")
				}
				for _, x := range []struct{ what, has, set string }{{"terminal_id", d.Terminal, c.Terminal}, {"backend", d.Backend, c.Backend}, {"[ecr] serial", d.Serial, c.First}} {
					if x.has != x.set {
						return exam.Failed("seen", fmt.Sprintf("the terminal runs with %s %q, the configuration has %q", x.what, x.has, x.set))
					}
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-CFG-010", Severity: exam.Minor, After: []string{"PA-CFG-009"}, Command: "posagent config diff{flags}",
			Look: func(_ context.Context, f *Facts) Finding {
				c := f.Config
				return exam.WarnedIf(c.GivenUp > c.Revision, fmt.Sprintf("revision %d was given up, revision %d is in use", c.GivenUp, c.Revision))
			},
		},
	}
}

func isSyntax(p Problem) bool  { return p.Key == "" && !isUnknown(p) }
func isUnknown(p Problem) bool { return strings.HasPrefix(p.Text, "unknown ") }
func isSecret(p Problem) bool {
	return strings.HasSuffix(p.Key, "_file") && !p.NoFile && !isUnknown(p) || strings.Contains(p.Text, "others can read") || strings.Contains(p.Text, "read by others")
}

// problems fails with those errors of the configuration that are of a kind.
func (f *Facts) problems(of func(Problem) bool) Finding {
	var list []string
	for _, p := range f.Config.Problems {
		if of(p) {
			text := p.Text
			for _, part := range []string{p.Key, p.Where} {
				if part != "" {
					text = part + ": " + text
				}
			}
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return exam.Passed()
	}
	e := []string{"seen", list[0]}
	if len(list) > 1 {
		e = append(e, "more", fmt.Sprint(len(list)-1))
	}
	return exam.Failed(e...)
}
