package usage

import (
	"fmt"
	"io"
	"strings"
)

// Help writes the examples of a verb, what it does, its sub-verbs and its flags. path is how it is called.
func Help(w io.Writer, path string, v Verb) {
	for _, e := range v.Examples {
		fmt.Fprintf(w, "  %s\n", e)
	}
	fmt.Fprintf(w, "\n%s: %s\n", path, v.Short)
	if v.Long != "" {
		fmt.Fprintf(w, "\n%s\n", v.Long)
	}
	if v.Sub != nil {
		fmt.Fprintln(w)
		for _, s := range v.Sub {
			fmt.Fprintf(w, "  %-28s %s\n", strings.TrimSpace(s.Name+" "+s.Args), s.Short)
		}
	}
	if v.Flags == nil {
		return
	}
	fmt.Fprintf(w, "\nUsage: %s\n", strings.TrimSpace(path+" [flags] "+v.Args))
	for _, f := range FlagsOf(v.Flags) {
		fmt.Fprintf(w, "  --%-22s %s", strings.TrimSpace(f.Name+" "+f.Value), f.Help)
		if f.Default != "" && f.Default != "false" && f.Default != "0" {
			fmt.Fprintf(w, " (default %s)", f.Default)
		}
		fmt.Fprintln(w)
	}
}

// CodeLine says the exit codes on one line.
func (p Program) CodeLine() string {
	var codes []string
	for _, c := range p.Codes {
		codes = append(codes, fmt.Sprintf("%d %s", c.Number, c.Means))
	}
	return "Exit codes: " + strings.Join(codes, ", ") + "."
}
