package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"posagent/cmd/usage"
)

// commands is the table of verbs. It is a function, so that nothing can change it at run time.
func commands() []command {
	return []command{
		runCommand(), enrollCommand(), statusCommand(), doctorCommand(), explainCommand(), methodsCommand(), saleCommand(), opsCommand(), reconcileCommand(), auditCommand(), historyCommand(), configCommand(),
		backupCommand(), restoreCommand(), journalCommand(), resetCommand(), updateCommand(),
		netCommand(), upstreamCommand(), serialCommand(), supportCommand(), selftestCommand(), registerCommand(), tortureCommand(), backendCommand(), demoCommand(), walletCommand(),
		visitCommand(), completionCommand(), manCommand(), versionCommand(),
	}
}

// dispatch finds the verb that args name, and runs it. It fails with exitUsage where there is none.
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
			if len(args) == 0 {
				usage.Help(io.err, path, cmd.verb())
				return fail(exitUsage, "%s: which of %s?", said(path), strings.Join(names(cmd.sub), ", "))
			}
			usage.Help(io.out, path, cmd.verb())
			return nil
		}
		list = cmd.sub
	}
}

// ownProcess is set where a call has the process to itself, and may give its rights away for good.
type ownProcess struct{}

// invoke reads the flags and arguments behind path, and runs the verb of c with them.
func invoke(ctx context.Context, c *call, path string, args []string) error {
	cmd := c.cmd
	fs := flag.NewFlagSet(path, flag.ContinueOnError)
	fs.SetOutput(discard{})
	c.opts = cmd.register(fs, &c.global)
	rest, before, err := usage.Parse(fs, args)
	if out, ok := c.out.(*usage.Output); ok {
		out.JSON = c.json && len(cmd.json) > 0
	}
	if errors.Is(err, flag.ErrHelp) {
		usage.Help(c.out, path, cmd.verb())
		return nil
	}
	if err != nil {
		return fail(exitUsage, "%s: %s (%s --help shows how)", c.path, strings.Replace(err.Error(), "for flag -", "for flag --", 1), path)
	}
	if cmd.args == "" && len(rest) > 0 {
		return fail(exitUsage, "%s: takes no argument %q (%s --help shows how)", c.path, rest[0], path)
	}
	c.args, c.before = rest, before
	if o, ok := c.opts.(*pendingOptions); cmd.reads && ctx.Value(ownProcess{}) != nil && (!ok || o.unit == "") { // of a unit another process reads
		if err := lookAsOwner(c); err != nil {
			return err
		}
	}
	err = cmd.run(ctx, c)
	var coded *exit
	if c.cut != nil && (err == nil || errors.As(err, &coded) && coded.Code == exitDamaged) { // what is left of it may not be readable
		return cutError(c.cut)
	}
	return err
}

func find(list []command, name, path string) (*command, error) {
	for i := range list {
		if list[i].name == name {
			return &list[i], nil
		}
	}
	hint := ""
	if s := usage.Nearest(name, harmless(list)); s != "" {
		hint = fmt.Sprintf(": did you mean %q?", s)
	}
	return nil, fail(exitUsage, "%s: no verb %q%s (%s --help lists them)", said(path), name, hint, path)
}

// harmless are the names of the verbs that a suggestion may lead to.
func harmless(list []command) []string {
	return names(slices.DeleteFunc(slices.Clone(list), func(c command) bool { return c.destroys }))
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
