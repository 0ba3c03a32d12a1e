package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"posagent/store"
)

// command is one verb. Sub-verbs have no sub-verbs of their own.
type command struct {
	name     string
	args     string // what follows the flags, for the usage line
	short    string // one line
	long     string // what a reader of --help needs beyond it, may be ""
	examples []string
	flags    func(*flag.FlagSet) any // registers flags, returns the verb's own options
	run      func(context.Context, *call) error
	sub      []command
}

// call is one invocation of a verb.
type call struct {
	std
	global
	opts  any      // what flags() returned
	args  []string // positional arguments
	cmd   *command
	table []command       // all verbs, for those that print them
	path  string          // "register pay"
	cut   *store.CutError // of the journal that was read: said behind what is left in it
	ctx   context.Context
}

// global are the flags every verb takes.
type global struct {
	config string
	state  string
	json   bool
	debug  bool
}

const (
	defaultConfig = "/etc/posagent/config.toml"
	defaultState  = "/var/lib/posagent"
)

// commands is the table of verbs. It is a function, so that nothing can change it at run time.
func commands() []command {
	return []command{
		runCommand(), statusCommand(), methodsCommand(), saleCommand(), opsCommand(), auditCommand(), configCommand(),
		backupCommand(), restoreCommand(), journalCommand(), resetCommand(),
		registerCommand(), backendCommand(), demoCommand(), walletCommand(),
		completionCommand(), manCommand(), versionCommand(),
	}
}

func dispatch(ctx context.Context, args []string, io std) error {
	table := commands()
	root := flag.NewFlagSet("posagent", flag.ContinueOnError)
	root.SetOutput(discard{})
	g := global{config: os.Getenv("POSAGENT_CONFIG"), state: os.Getenv("POSAGENT_STATE")}
	g.register(root)
	says := root.Bool("version", false, "")
	if err := root.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			overview(io.out, table)
			return nil
		}
		return fail(exitUsage, "%v (posagent --help lists the verbs)", err)
	}
	args = root.Args()
	if *says {
		args = []string{"version"}
	}
	if len(args) == 0 {
		overview(io.err, table)
		return fail(exitUsage, "which verb?")
	}
	if args[0] == "help" {
		if len(args) == 1 {
			overview(io.out, table)
			return nil
		}
		args = append(slices.Clone(args[1:]), "--help")
	}
	list, path := table, "posagent"
	for {
		cmd, err := find(list, args[0], path)
		if err != nil {
			return err
		}
		path += " " + cmd.name
		args = args[1:]
		if cmd.sub == nil || (cmd.run != nil && (len(args) == 0 || strings.HasPrefix(args[0], "-"))) {
			return invoke(ctx, &call{std: io, global: g, cmd: cmd, table: table, path: said(path), ctx: ctx}, path, args)
		}
		if len(args) == 0 || args[0] == "--help" || args[0] == "-h" {
			usage(io.out, cmd, path, nil)
			if len(args) == 0 {
				return fail(exitUsage, "%s: which of %s?", said(path), strings.Join(names(cmd.sub), ", "))
			}
			return nil
		}
		list = cmd.sub
	}
}

// invoke reads the flags and arguments behind path, and runs the verb of c with them.
func invoke(ctx context.Context, c *call, path string, args []string) error {
	cmd := c.cmd
	fs := flag.NewFlagSet(path, flag.ContinueOnError)
	fs.SetOutput(discard{})
	c.global.register(fs)
	if cmd.flags != nil {
		c.opts = cmd.flags(fs)
	}
	rest, err := parseAnywhere(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		usage(c.out, cmd, path, fs)
		return nil
	}
	if err != nil {
		return fail(exitUsage, "%s: %v (%s --help shows how)", c.path, err, path)
	}
	if cmd.args == "" && len(rest) > 0 {
		return fail(exitUsage, "%s: takes no argument %q (%s --help shows how)", c.path, rest[0], path)
	}
	c.args = rest
	err = cmd.run(ctx, c)
	var coded *exit
	if c.cut != nil && (err == nil || errors.As(err, &coded) && coded.code == exitDamaged) { // what is left of it may not be readable
		return cutError(c.cut)
	}
	return err
}

// parseAnywhere lets flags stand before, between and after positional arguments; "--" ends them.
func parseAnywhere(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		left := fs.Args()
		if len(left) == 0 {
			return rest, nil
		}
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

func (g *global) register(fs *flag.FlagSet) {
	fs.StringVar(&g.config, "config", g.config, "configuration `file`, or POSAGENT_CONFIG (default "+defaultConfig+" where it exists)")
	fs.StringVar(&g.state, "state", g.state, "state `directory`, or POSAGENT_STATE (default "+defaultState+")")
	fs.BoolVar(&g.json, "json", g.json, "print JSON with a versioned schema")
	fs.BoolVar(&g.debug, "debug", g.debug, "log everything, not only warnings")
}

// flags are the global flags as they were given, for a command to type next.
func (g *global) flags() string {
	s := ""
	if g.config != "" {
		s += " --config " + g.config
	}
	if g.state != "" {
		s += " --state " + g.state
	}
	return s
}

func (g *global) stateDir() string {
	if g.state == "" {
		return defaultState
	}
	return g.state
}

// said is a path as an error begins with: the program's own name is put before every error anyway.
func said(path string) string { return strings.TrimPrefix(path, "posagent ") }

func find(list []command, name, path string) (*command, error) {
	for i := range list {
		if list[i].name == name {
			return &list[i], nil
		}
	}
	hint := ""
	if s := nearest(name, names(list)); s != "" {
		hint = fmt.Sprintf(": did you mean %q?", s)
	}
	return nil, fail(exitUsage, "%s: no verb %q%s (%s --help lists them)", said(path), name, hint, path)
}

func names(list []command) (out []string) {
	for _, c := range list {
		out = append(out, c.name)
	}
	return out
}

// nearest finds a name that shares most of its letters in order, "" when none is close.
func nearest(word string, list []string) string {
	best, score := "", 0
	for _, s := range list {
		n := 0
		for i := 0; i < len(word) && n < len(s); i++ {
			if j := strings.IndexByte(s[n:], word[i]); j >= 0 && j < 2 {
				n += j + 1
			}
		}
		if n*2 > max(len(s), len(word)) && n > score {
			best, score = s, n
		}
	}
	return best
}

func overview(w io.Writer, table []command) {
	fmt.Fprint(w, "posagent makes a payment terminal out of a small Linux box.\n\n")
	fmt.Fprint(w, "  posagent demo                              the whole story on embedded defaults, nothing to set up\n")
	fmt.Fprint(w, "  posagent run --config FILE                 the terminal\n")
	fmt.Fprint(w, "  posagent status                            one screen: what is wrong and what to type next\n\nVerbs:\n")
	for _, c := range table {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.short)
	}
	var codes []string
	for _, e := range exitCodes() {
		codes = append(codes, fmt.Sprintf("%d %s", e.code, e.what))
	}
	fmt.Fprint(w, "\nEvery verb takes --config FILE, --state DIR and --json; posagent VERB --help starts with examples.\n"+
		"Exit codes: "+strings.Join(codes, ", ")+".\n")
}

func usage(w io.Writer, cmd *command, path string, fs *flag.FlagSet) {
	for _, e := range cmd.examples {
		fmt.Fprintf(w, "  %s\n", e)
	}
	fmt.Fprintf(w, "\n%s: %s\n", path, cmd.short)
	if cmd.long != "" {
		fmt.Fprintf(w, "\n%s\n", cmd.long)
	}
	if cmd.sub != nil {
		fmt.Fprintln(w)
		for _, s := range cmd.sub {
			fmt.Fprintf(w, "  %-28s %s\n", strings.TrimSpace(s.name+" "+s.args), s.short)
		}
	}
	if fs == nil {
		return
	}
	fmt.Fprintf(w, "\nUsage: %s\n", strings.TrimSpace(path+" [flags] "+cmd.args))
	fs.VisitAll(func(f *flag.Flag) {
		name, help := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "  --%-22s %s", strings.TrimSpace(f.Name+" "+name), help)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			fmt.Fprintf(w, " (default %s)", f.DefValue)
		}
		fmt.Fprintln(w)
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
