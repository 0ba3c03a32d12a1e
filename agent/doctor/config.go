package doctor

import (
	"context"
	"fmt"
	"strings"
)

const checkConfig = "posagent config check{flags}"

// configChecks are about the configuration. Each error of it belongs to exactly one of them.
func configChecks() []Check {
	return []Check{
		{
			ID: "PA-CFG-001", Title: "a configuration is named", Severity: Critical,
			Means:  "without one, the terminal is a sandbox that moves no real money",
			How:    "no file is named by --config or POSAGENT_CONFIG, the default file is not there, and no terminal has run here",
			Remedy: Remedy{Text: "write a configuration to a new file, fill it in, and name it by --config", Command: "posagent config example"},
			Look: func(ctx context.Context, f *Facts) Finding {
				if f.Config.Named || f.Daemon.Running || f.Journal(ctx).State != NoJournal {
					return passed("file", f.Config.File)
				}
				return failed("seen", "no terminal has run here, and no configuration is named")
			},
		},
		{
			ID: "PA-CFG-002", Title: "the configuration file can be read", Severity: Critical, After: []string{"PA-CFG-001"},
			Means:  "the terminal does not start",
			How:    "the file is opened and its TOML is read",
			Remedy: Remedy{Text: "correct the line that is named, or the name of the file", Command: checkConfig},
			Look:   func(_ context.Context, f *Facts) Finding { return f.problems(isSyntax) },
		},
		{
			ID: "PA-CFG-003", Title: "the configuration has no unknown name", Severity: Critical, After: []string{"PA-CFG-002"},
			Means:  "a setting that is misspelt would not be in force, so the terminal does not start",
			How:    "each key, section and POSAGENT_ variable is compared with the settings that exist",
			Remedy: Remedy{Text: "write the name that is suggested, or take the line out", Command: checkConfig},
			Look:   func(_ context.Context, f *Facts) Finding { return f.problems(isUnknown) },
		},
		{
			ID: "PA-CFG-004", Title: "the files of secrets are there and private", Severity: Critical, After: []string{"PA-CFG-002"},
			Means:  "a credential is missing, or other accounts of the box can read it; the terminal does not start",
			How:    "each key that ends in _file is opened, and the mode of the file is read",
			Remedy: Remedy{Text: "put the secret into the file that is named, readable by the user of posagent alone (chmod 600)", Command: checkConfig},
			Look:   func(_ context.Context, f *Facts) Finding { return f.problems(isSecret) },
		},
		{
			ID: "PA-CFG-005", Title: "each value of the configuration is valid", Severity: Critical, After: []string{"PA-CFG-003", "PA-CFG-004"},
			Means:  "the terminal does not start",
			How:    "each value is compared with its rule",
			Remedy: Remedy{Text: "correct the value on the line that is named", Command: checkConfig},
			Look: func(_ context.Context, f *Facts) Finding {
				return f.problems(func(p Problem) bool { return !isSyntax(p) && !isUnknown(p) && !isSecret(p) })
			},
		},
		{
			ID: "PA-CFG-006", Title: "certificates that the configuration names can be read", Severity: Critical, After: []string{"PA-CFG-005"},
			Means:  "no connection to the backend comes about, so the terminal does not start",
			How:    "roots_file, client_cert and client_key of [upstream] are read, and the pins",
			Remedy: Remedy{Text: "correct roots_file, client_cert, client_key or pins of [upstream] in {config}", Command: checkConfig},
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Config.Files != "" {
					return failed("seen", f.Config.Files)
				}
				return passed()
			},
		},
		{
			ID: "PA-CFG-007", Title: "each POSAGENT_ variable is a setting", Severity: Minor, After: []string{"PA-CFG-003"},
			Means:  "a variable that looks like a setting has no effect",
			How:    "the environment of this command is compared with the settings that exist",
			Remedy: Remedy{Text: "take the variable out of the environment, or correct its name", Command: "posagent config show{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				if len(f.Config.Ignored) > 0 {
					return warned("seen", "not used: "+strings.Join(f.Config.Ignored, " "))
				}
				return passed()
			},
		},
		{
			ID: "PA-CFG-008", Title: "the terminal runs with this configuration", Severity: Major, After: []string{"PA-CFG-005"},
			Means:  "the terminal works with other settings than those in the file",
			How:    "terminal id, backend and register line of the file are compared with what the running terminal says",
			Remedy: Remedy{Text: "stop the terminal and start it with this configuration; name the same --config and --state here", Command: "posagent status{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				d, c := f.Daemon, f.Config
				if !d.Running || !d.Told || !c.Named {
					return nothing("no terminal runs, or no configuration is named")
				}
				for _, x := range []struct{ what, has, set string }{{"terminal_id", d.Terminal, c.Terminal}, {"backend", d.Backend, c.Backend}, {"[ecr] serial", d.Serial, c.Serial}} {
					if x.has != x.set {
						return failed("seen", fmt.Sprintf("the terminal runs with %s %q, the configuration has %q", x.what, x.has, x.set))
					}
				}
				return passed()
			},
		},
	}
}

func isSyntax(p Problem) bool  { return p.Key == "" && !isUnknown(p) }
func isUnknown(p Problem) bool { return strings.HasPrefix(p.Text, "unknown ") }
func isSecret(p Problem) bool {
	return strings.HasSuffix(p.Key, "_file") && !isUnknown(p) || strings.Contains(p.Text, "others can read") || strings.Contains(p.Text, "read by others")
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
		return passed()
	}
	e := []string{"seen", list[0]}
	if len(list) > 1 {
		e = append(e, "more", fmt.Sprint(len(list)-1))
	}
	return failed(e...)
}
