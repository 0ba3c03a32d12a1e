package usage

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Manual writes the page in the language of man.
func (p Program) Manual(w io.Writer) {
	fmt.Fprintf(w, ".TH %s 1 \"\" \"%s %s\" \"%s\"\n", roff(strings.ToUpper(p.Name)), roff(p.Name), roff(p.Version), roff(p.Name))
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n.I verb\n.RI [ flags ]\n.RI [ arguments ]\n", roff(p.Name), roff(p.What), roff(p.Name))
	fmt.Fprintf(w, ".SH DESCRIPTION\n%s.SH VERBS\n", p.About)
	every := FlagsOf(p.Flags)
	for _, r := range p.Rows() {
		fmt.Fprintf(w, ".SS %s\n%s.\n", roff(strings.TrimSpace(r.Path+" "+r.Args)), roff(r.Short))
		if r.Long != "" {
			fmt.Fprintf(w, ".PP\n%s\n", roff(r.Long))
		}
		for _, f := range FlagsOf(r.Verb.Flags) {
			if !slices.Contains(every, f) {
				describe(w, f)
			}
		}
		if len(r.Examples) > 0 {
			fmt.Fprint(w, ".PP\n.nf\n")
			for _, e := range r.Examples {
				fmt.Fprintf(w, "    %s\n", roff(e))
			}
			fmt.Fprint(w, ".fi\n")
		}
	}
	if len(every) > 0 {
		fmt.Fprint(w, ".SH FLAGS OF EVERY VERB\n")
	}
	for _, f := range every {
		describe(w, f)
	}
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, c := range p.Codes {
		fmt.Fprintf(w, ".TP\n%d\n%s\n", c.Number, roff(c.Means))
	}
	fmt.Fprint(w, p.More)
}

// describe writes a flag and what it does.
func describe(w io.Writer, f Flag) {
	fmt.Fprintf(w, ".TP\n\\fB\\-\\-%s\\fR", roff(f.Name))
	if f.Value != "" {
		fmt.Fprintf(w, " \\fI%s\\fR", roff(f.Value))
	}
	help := f.Help
	if f.Default != "" && f.Default != "false" && f.Default != "0" {
		help += " (default " + f.Default + ")"
	}
	fmt.Fprintf(w, "\n%s\n", roff(help))
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
