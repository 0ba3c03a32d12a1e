package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type pendingOptions struct{ unit string }

// unitSettings are what a unit of systemd starts the terminal with.
type unitSettings struct {
	state, config string   // "" = the default
	env           []string // its POSAGENT_ variables
}

// systemctlWithin bounds the question to systemd.
const systemctlWithin = 20 * time.Second

// pendingOfUnit is journalPending for the terminal that a unit of systemd runs: a drop-in may give it another state directory. It refuses
// where the unit does not say which.
func pendingOfUnit(ctx context.Context, c *call, unit string) error {
	ctx, cancel := context.WithTimeout(ctx, systemctlWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "show", unit, "--property=LoadState,ExecStart,Environment,EnvironmentFiles").Output()
	if err != nil {
		return fail(exitFailed, "%s: systemctl show %s: %v", c.path, unit, err)
	}
	s, there, err := readUnit(string(out))
	switch {
	case err != nil:
		return fail(exitRefused, "%s: %s: %v, so it is not known whether money is pending (systemctl cat %s shows it; posagent journal pending --state DIR asks a directory)",
			c.path, unit, err, unit)
	case !there:
		fmt.Fprintf(c.err, "there is no unit %s\n", unit)
		return nil
	}
	if s.state != "" && s.state != defaultState {
		if _, err := os.Stat(s.state); err != nil {
			return fail(exitRefused, "%s: %s runs on %s: %v, so it is not known whether money is pending (mount it; or correct the unit)", c.path, unit, s.state, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	args := []string{"journal", "pending"}
	for name, value := range map[string]string{"--state": s.state, "--config": s.config} {
		if value != "" {
			args = append(args, name, value)
		}
	}
	if c.json {
		args = append(args, "--json")
	}
	asks := exec.Command(self, args...)
	asks.Args[0] = "posagent"
	asks.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "POSAGENT_") }), s.env...)
	asks.Stdout, asks.Stderr = c.out, c.err
	var failed *exec.ExitError
	if err := asks.Run(); errors.As(err, &failed) {
		return exitWith(failed.ExitCode(), errors.New(""))
	} else if err != nil {
		return fail(exitFailed, "%v", err)
	}
	return nil
}

// readUnit reads what systemctl show says of a unit. there is false where there is none.
func readUnit(text string) (s unitSettings, there bool, err error) {
	env, flags := map[string]string{}, map[string]string{}
	var files []string
	starts := 0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		switch name {
		case "LoadState":
			there = value != "not-found"
		case "Environment":
			takeVariables(env, unitWords(value))
		case "EnvironmentFiles":
			file, _, _ := strings.Cut(value, " (ignore_errors=")
			files = append(files, file)
		case "ExecStart":
			if value == "" {
				continue
			}
			starts++
			_, argv, found := strings.Cut(value, "argv[]=")
			argv, _, _ = strings.Cut(argv, " ; ignore_errors=")
			if err := takeFlags(flags, unitWords(argv)); err != nil || !found {
				return s, there, errors.Join(errors.New("what it starts cannot be read"), err)
			}
		}
	}
	if !there {
		return s, false, nil
	}
	if starts != 1 {
		return s, true, fmt.Errorf("it starts %d programs", starts)
	}
	for _, file := range files {
		data, err := readPlain(file, maxConfig)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return s, true, err
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && !strings.ContainsRune("#;", rune(line[0])) {
				takeVariables(env, []string{strings.Join(unitWords(line), " ")})
			}
		}
	}
	for name, value := range env {
		s.env = append(s.env, name+"="+value)
	}
	slices.Sort(s.env)
	s.state, s.config = env["POSAGENT_STATE"], env["POSAGENT_CONFIG"]
	for name, to := range map[string]*string{"state": &s.state, "config": &s.config} {
		if value := flags[name]; value != "" {
			*to = value
		}
		if strings.ContainsAny(*to, "$%") {
			return s, true, fmt.Errorf("its --%s is %s", name, *to)
		}
		if *to != "" && !filepath.IsAbs(*to) {
			*to = filepath.Join("/", *to) // a unit's working directory, where it sets none
		}
	}
	return s, true, nil
}

// takeVariables takes the settings among NAME=VALUE texts.
func takeVariables(env map[string]string, list []string) {
	for _, text := range list {
		if name, value, _ := strings.Cut(text, "="); strings.HasPrefix(name, "POSAGENT_") {
			env[name] = value
		}
	}
}

// takeFlags takes the flags --state and --config out of a command line of posagent run.
func takeFlags(flags map[string]string, argv []string) error {
	if len(argv) < 2 || filepath.Base(argv[0]) != "posagent" || !slices.Contains(argv, "run") {
		return fmt.Errorf("it starts %q, which is not posagent run", strings.Join(argv, " "))
	}
	for i, arg := range argv {
		name, value, with := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || name != "state" && name != "config" {
			continue
		}
		if !with && i+1 < len(argv) {
			value = argv[i+1]
		}
		flags[name] = value
	}
	return nil
}

// unitWords splits a line at blanks. Quotes keep blanks together, a backslash the next letter.
func unitWords(line string) (list []string) {
	var word strings.Builder
	quote, in := rune(0), false
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, in = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if in {
				list = append(list, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if in {
		list = append(list, word.String())
	}
	return list
}
