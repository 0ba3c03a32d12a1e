package main

import (
	"flag"

	"posagent/cmd/usage"
)

// usageOf is a table of commands as help, manual and completion read it.
func usageOf(table []command) usage.Program {
	return usage.Program{
		Name: "posagent", Version: version, What: "a payment terminal on a small Linux box", About: manualAbout, More: manualMore,
		Flags: (&global{}).register, First: []string{"help", "--help", "--version", "--config", "--state", "--json", "--debug"},
		Verbs: verbs(table), Codes: exitCodes(),
	}
}

// verbs are the rows of a table of commands, each with its sub-verbs.
func verbs(table []command) (list []usage.Verb) {
	for i := range table {
		list = append(list, table[i].verb())
	}
	return list
}

// verb is a command as a reader of its help sees it.
func (cmd *command) verb() usage.Verb {
	v := usage.Verb{Name: cmd.name, Args: cmd.args, Short: cmd.short, Long: cmd.long, Examples: cmd.examples, JSON: cmd.json, Sub: verbs(cmd.sub)}
	if cmd.run != nil {
		v.Flags = func(fs *flag.FlagSet) { cmd.register(fs, &global{}) }
	}
	return v
}

// register registers the flags of every verb and the command's own, and returns its options.
func (cmd *command) register(fs *flag.FlagSet, g *global) (opts any) {
	g.register(fs)
	fs.Lookup("json").Usage = usage.JSONHelp(cmd.json)
	if cmd.flags != nil {
		return cmd.flags(fs)
	}
	return nil
}

// names are the names of the commands in a table.
func names(table []command) []string { return usage.Names(verbs(table)) }
