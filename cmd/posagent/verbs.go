package main

import (
	"flag"
)

// verb is one row of the table of commands as a reader of the whole table needs it.
type verb struct {
	path  string // "posagent sale show"
	cmd   *command
	flags []flagHelp
}

// flagHelp is one flag.
type flagHelp struct {
	name, value, help, def string // value "" = takes none
}

// verbs is a table of commands with every sub-verb after its verb.
func verbs(table []command) []verb {
	var list []verb
	var walk func(prefix string, cmds []command)
	walk = func(prefix string, cmds []command) {
		for i := range cmds {
			path := prefix + " " + cmds[i].name
			list = append(list, verb{path, &cmds[i], flagsOf(&cmds[i])})
			walk(path, cmds[i].sub)
		}
	}
	walk("posagent", table)
	return list
}

// flagsOf lists a verb's own flags and those of every verb, by name. A verb that only has sub-verbs has none.
func flagsOf(cmd *command) (list []flagHelp) {
	if cmd.run == nil {
		return nil
	}
	fs := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	(&global{}).register(fs)
	if cmd.flags != nil {
		cmd.flags(fs)
	}
	fs.VisitAll(func(f *flag.Flag) {
		value, help := flag.UnquoteUsage(f)
		list = append(list, flagHelp{f.Name, value, help, f.DefValue})
	})
	return list
}

// names are the names of the verbs in a list.
func names(list []command) (out []string) {
	for _, c := range list {
		out = append(out, c.name)
	}
	return out
}
