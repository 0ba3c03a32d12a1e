package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

func manCommand() command {
	return command{
		name: "man", short: "print the manual page, made from the table of verbs",
		examples: []string{"posagent man > posagent.1; man ./posagent.1", "posagent man > /usr/share/man/man1/posagent.1"},
		run: func(_ context.Context, c *call) error {
			manual(c.out, c.table)
			return nil
		},
	}
}

// manual writes the page in the language of man.
func manual(w io.Writer, table []command) {
	fmt.Fprintf(w, ".TH POSAGENT 1 \"\" \"posagent %s\" \"posagent\"\n", roff(version))
	fmt.Fprint(w, ".SH NAME\nposagent \\- a payment terminal on a small Linux box\n.SH SYNOPSIS\n.B posagent\n.I verb\n.RI [ flags ]\n.RI [ arguments ]\n")
	fmt.Fprint(w, ".SH DESCRIPTION\n.B posagent run\nis the terminal. It prints\n.B ready\nwhen a register may ask for a sale, and\n.B not ready:\n"+
		"with the cause and what to type as long as it may not. The first line of\n.B posagent status\nsays the same.\n.SH VERBS\n")
	for _, v := range verbs(table) {
		fmt.Fprintf(w, ".SS %s\n%s.\n", roff(strings.TrimSpace(v.path+" "+v.cmd.args)), roff(v.cmd.short))
		if v.cmd.long != "" {
			fmt.Fprintf(w, ".PP\n%s\n", roff(v.cmd.long))
		}
		for _, f := range v.flags {
			if isGlobal(f.name) {
				continue
			}
			fmt.Fprintf(w, ".TP\n\\fB\\-\\-%s\\fR", roff(f.name))
			if f.value != "" {
				fmt.Fprintf(w, " \\fI%s\\fR", roff(f.value))
			}
			fmt.Fprintf(w, "\n%s\n", roff(f.help))
		}
		if len(v.cmd.examples) > 0 {
			fmt.Fprint(w, ".PP\n.nf\n")
			for _, e := range v.cmd.examples {
				fmt.Fprintf(w, "    %s\n", roff(e))
			}
			fmt.Fprint(w, ".fi\n")
		}
	}
	fmt.Fprint(w, ".SH FLAGS OF EVERY VERB\n")
	for _, f := range flagsOf(&command{run: func(context.Context, *call) error { return nil }}) {
		fmt.Fprintf(w, ".TP\n\\fB\\-\\-%s\\fR", roff(f.name))
		if f.value != "" {
			fmt.Fprintf(w, " \\fI%s\\fR", roff(f.value))
		}
		fmt.Fprintf(w, "\n%s\n", roff(f.help))
	}
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, e := range exitCodes() {
		fmt.Fprintf(w, ".TP\n%d\n%s\n", e.code, roff(e.what))
	}
	fmt.Fprintf(w, ".SH ENVIRONMENT\nPOSAGENT_CONFIG and POSAGENT_STATE stand for \\-\\-config and \\-\\-state. POSAGENT_SECTION_KEY stands for a key of the\n"+
		"configuration, POSAGENT_SECTION_KEY_FILE for the file of a secret.\n.SH FILES\n.TP\n%s\nthe configuration; posagent config example prints one\n.TP\n%s\nthe state directory\n", roff(defaultConfig), roff(defaultState))
}

func isGlobal(name string) bool {
	return name == "config" || name == "state" || name == "json" || name == "debug"
}

// roff escapes a text: no line of it reads as a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "…", "...").Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	var b strings.Builder
	for _, r := range strings.Join(lines, "\n") {
		if r > '~' {
			fmt.Fprintf(&b, `\[u%04X]`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
