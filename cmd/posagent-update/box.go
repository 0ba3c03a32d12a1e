package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"posagent/agent/lifecycle/update"
	"posagent/cmd/usage"
	"posagent/device/file"
)

var errConfig = errors.New("no repository is configured")

// box are the flags of the verbs on a terminal.
type box struct {
	program, terminal, dir, settings string
	url, root, from, target          string
	options                          update.Options
	times                            update.Times
	reason                           string
}

func (b *box) flags(fs *flag.FlagSet) {
	fs.StringVar(&b.program, "program", "/usr/bin/posagent", "the terminal's program")
	fs.StringVar(&b.terminal, "terminal", "/var/lib/posagent", "the terminal's state directory")
	fs.StringVar(&b.dir, "dir", "/var/lib/posagent-update", "where updates are written down")
	fs.StringVar(&b.settings, "settings", "/etc/posagent/update", "folder with root.json, the root of the repository, and url, its address")
	fs.StringVar(&b.url, "url", "", "address of the repository, in place of the file url")
	fs.StringVar(&b.root, "root", "", "root of the repository, in place of the file root.json")
	fs.StringVar(&b.from, "from", "", "folder with a copy of the repository, as on a stick, in place of its address")
	fs.StringVar(&b.target, "target", "", "name of this box's program in the repository (default: posagent- and the processor)")
	fs.BoolVar(&b.options.Again, "again", false, "take also a version that was taken back, that the fleet holds, or that other boxes are to have first")
	fs.BoolVar(&b.options.Untested, "untested", false, "replace the program also where no terminal runs that would prove it")
	b.times = update.DefaultTimes()
	fs.DurationVar(&b.times.Idle, "idle", b.times.Idle, "how long to wait for a moment without a sale")
	fs.DurationVar(&b.times.Trial, "trial", b.times.Trial, "how long the new program has to be as good as the one before")
	fs.DurationVar(&b.times.Steady, "steady", b.times.Steady, "how long it has to stay so")
	fs.StringVar(&b.reason, "reason", "a person asked for it", "why the program before is put back, for the record")
}

// targetName is the name of this machine's program in a repository.
func targetName() string {
	name := runtime.GOARCH
	if info, ok := debug.ReadBuildInfo(); ok && name == "arm" {
		for _, s := range info.Settings {
			if s.Key == "GOARM" {
				name, _, _ = strings.Cut("armv"+s.Value, ",")
			}
		}
	}
	return "posagent-" + name
}

// driver makes what updates this box.
func (c *call) driver() (*update.Driver, error) {
	program, err := filepath.EvalSymlinks(c.program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w (--program FILE names it)", errConfig, err)
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	return &update.Driver{
		Dir: c.dir, Place: update.Place{Program: program}, Terminal: update.Terminal{Program: program, State: c.terminal},
		Target: cmp.Or(c.target, targetName()), Version: versionOf, Times: c.times, Now: time.Now,
		Say: func(format string, args ...any) { fmt.Fprintf(c.talk, "posagent-update: "+format+"\n", args...) },
	}, nil
}

// source reads where the repository is, and what it is trusted by.
func (c *call) source() (update.Source, error) {
	s := update.Source{URL: c.url, Dir: c.from, UserAgent: "posagent-update/" + linked}
	root := c.root
	if root == "" {
		root = filepath.Join(c.settings, "root.json")
	}
	var err error
	if s.Root, _, err = file.Read(root, file.Follow, 1<<20); err != nil {
		return s, fmt.Errorf("%w: %w (whoever makes the releases gives it to you)", errConfig, err)
	}
	if s.URL == "" && s.Dir == "" {
		text, err := os.ReadFile(filepath.Join(c.settings, "url"))
		if err != nil {
			return s, fmt.Errorf("%w: %w (write its address there, or --url, or --from FOLDER)", errConfig, err)
		}
		s.URL = strings.TrimSpace(string(text))
	}
	if roots := filepath.Join(c.settings, "roots.pem"); fileThere(roots) {
		s.RootsFile = roots
	}
	return s, nil
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// run runs a program for its answer.
func run(ctx context.Context, program string, args ...string) (out []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var talk bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &talk, time.Second
	out, err = cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %.200s", program, strings.Join(args, " "), err, strings.TrimSpace(talk.String()))
	}
	return out, err
}

// versionOf asks a program what it is.
func versionOf(ctx context.Context, program string) (string, error) {
	out, err := run(ctx, program, "version", "--json")
	if err != nil {
		return "", err
	}
	var v struct{ Schema, Version string }
	if err := json.Unmarshal(out, &v); err != nil || v.Schema != "posagent.version/1" {
		return "", fmt.Errorf("%s does not say which version it is", program)
	}
	return v.Version, nil
}

// opens asks a program whether it can open the terminal's journal.
func (c *call) opens(ctx context.Context, program string) error {
	_, err := run(ctx, program, "journal", "pending", "--state", c.terminal)
	var code interface{ ExitCode() int }
	if errors.As(err, &code) && code.ExitCode() == usage.ExitRefused && !strings.Contains(err.Error(), "newer posagent") {
		return nil // money is pending: it has read it
	}
	return err
}

func check(ctx context.Context, c *call) error {
	c.options.OnlyLook = true
	return takeUpdate(ctx, c)
}

// offer is what the repository offers (offerSchema).
type offer struct {
	Schema    string `json:"schema"`
	Installed string `json:"installed"`
	Offered   string `json:"offered"`
	Updated   bool   `json:"updated"`
	Why       string `json:"why,omitempty"` // why nothing is done
}

func takeUpdate(ctx context.Context, c *call) error {
	d, err := c.driver()
	if err != nil {
		return err
	}
	if d.Source, err = c.source(); err != nil {
		return err
	}
	res, err := d.Update(ctx, c.options)
	if err != nil {
		return err
	}
	line := "updated from " + res.Installed + " to " + res.Offered
	switch {
	case res.Why != "":
		line = "nothing to do: " + res.Why
	case !res.Updated:
		line = res.Offered + " is offered, and " + res.Installed + " is in place (posagent-update update takes it)"
	}
	return c.print(offer{offerSchema, res.Installed, res.Offered, res.Updated, res.Why}, line)
}

func resume(ctx context.Context, c *call) error {
	d, err := c.driver()
	if err != nil {
		return err
	}
	resumed, err := d.Resume(ctx)
	if err != nil {
		return err
	}
	line := "no update was cut off"
	if resumed {
		line = "the update that was cut off has ended (posagent-update status says how)"
	}
	return c.print(struct {
		Schema  string `json:"schema"`
		Resumed bool   `json:"resumed"`
	}{"posagent.update-resumed/1", resumed}, line)
}

// onlyDigits makes each digit a 0, and drops everything else.
func onlyDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return '0'
	}
	return -1
}

func rollback(ctx context.Context, c *call) error {
	if digits := strings.Count(strings.Map(onlyDigits, c.reason), "0"); digits >= 13 {
		return fmt.Errorf("%w: the reason has %d digits, as a card number may: it is kept and told in clear, so leave them out", errUsage, digits)
	}
	d, err := c.driver()
	if err != nil {
		return err
	}
	switch err := d.Back(ctx, c.reason, c.opens); {
	case err == nil:
		return fmt.Errorf("%w: an update that was cut off has ended first, and nothing was put back", update.ErrNotNow)
	case !errors.Is(err, update.ErrReturned):
		return err
	default: // as was asked
		fmt.Fprintln(c.talk, "posagent-update: "+err.Error())
	}
	return c.summary(d)
}

func status(_ context.Context, c *call) error {
	d, err := c.driver()
	if err != nil {
		return err
	}
	return c.summary(d)
}

// summary says what updates have come to.
func (c *call) summary(d *update.Driver) error {
	s, err := d.Look()
	if err != nil {
		return err
	}
	lines := []string{"no update is under way"}
	if s.State != update.Idle {
		lines[0] = fmt.Sprintf("an update from %s to %s is under way: %s", s.From, s.To, s.State)
	}
	if l := s.Last; l != nil {
		how := "is in place"
		if !l.Kept {
			how = "was taken back: " + l.Reason
		}
		lines = append(lines, fmt.Sprintf("last update: %s, from %s to %s, which %s", l.At.UTC().Format(time.DateTime), l.From, l.To, how))
	}
	for _, t := range s.TakenBack {
		lines = append(lines, "taken back: "+t)
	}
	if s.Previous {
		lines = append(lines, "the program before is kept: posagent-update rollback puts it in place")
	}
	if s.Asked != "" {
		lines = append(lines, "the repository was asked last at "+s.Asked)
	}
	return c.print(s, lines...)
}
