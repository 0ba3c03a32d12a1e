package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// overview writes what posagent is, its verbs and its exit codes.
func overview(w io.Writer, table []command) {
	fmt.Fprint(w, "posagent makes a payment terminal out of a small Linux box.\n\n")
	fmt.Fprint(w, "  posagent demo                              the whole story on embedded defaults, nothing to set up\n")
	fmt.Fprint(w, "  posagent run --config FILE                 the terminal\n")
	fmt.Fprint(w, "  posagent status                            one screen: what is wrong and what to type next\n")
	fmt.Fprint(w, "  posagent doctor                            every check, the one cause, and what to type\n\nVerbs:\n")
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

// usage writes the examples of a verb, what it does, its sub-verbs, and its flags where fs has them.
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

// exitCodes are the stable exit codes in words.
func exitCodes() []struct {
	code int
	what string
} {
	return []struct {
		code int
		what string
	}{
		{exitOK, "ok"}, {exitFailed, "failed"}, {exitUsage, "usage"}, {exitConfig, "config"}, {exitNoDaemon, "daemon not reachable"}, {exitNotEnrolled, "not enrolled"},
		{exitRefused, "refused"}, {exitNoBackend, "backend unreachable"}, {exitAuth, "auth rejected"}, {exitDamaged, "store damaged"}, {exitInterrupted, "interrupted"},
	}
}
