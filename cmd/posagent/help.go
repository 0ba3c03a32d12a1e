package main

import (
	"fmt"
	"io"
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
	fmt.Fprint(w, "\nEvery verb takes --config FILE, --state DIR and --json; posagent VERB --help starts with examples.\n"+usageOf(table).CodeLine()+"\n")
}
