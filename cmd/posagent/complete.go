package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

func completionCommand() command {
	return command{
		name: "completion", args: "bash|zsh|fish", short: "print the completion of verbs and flags for a shell",
		examples: []string{
			"posagent completion bash > /etc/bash_completion.d/posagent", "posagent completion zsh > /usr/share/zsh/vendor-completions/_posagent",
			"posagent completion fish > ~/.config/fish/completions/posagent.fish",
		},
		run: func(_ context.Context, c *call) error {
			if len(c.args) != 1 || !slices.Contains([]string{"bash", "zsh", "fish"}, c.args[0]) {
				return fail(exitUsage, "%s: for which shell? bash, zsh or fish", c.path)
			}
			switch c.args[0] {
			case "bash":
				bashCompletion(c.out, c.table)
			case "zsh":
				fmt.Fprint(c.out, "#compdef posagent\nautoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n")
				bashCompletion(c.out, c.table)
			case "fish":
				fishCompletion(c.out, c.table)
			}
			return nil
		},
	}
}

// words are what may follow a verb: its sub-verbs and flags.
func (v verb) words() []string {
	words := names(v.cmd.sub)
	for _, f := range v.flags {
		words = append(words, "--"+f.name)
	}
	return append(words, "--help")
}

// valued lists the flags that take a value, of all verbs.
func valued(list []verb) []string {
	var out []string
	for _, v := range list {
		for _, f := range v.flags {
			if f.value != "" && !slices.Contains(out, "--"+f.name) {
				out = append(out, "--"+f.name)
			}
		}
	}
	sort.Strings(out)
	return out
}

// bashCompletion writes a function of which bash and zsh understand every line. Values of flags are completed as files.
func bashCompletion(w io.Writer, table []command) {
	list := verbs(table)
	flags := strings.Join(valued(list), "|")
	fmt.Fprintf(w, `_posagent() {
	local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at=posagent skip="" words="" w i
	for ((i = 1; i < COMP_CWORD; i++)); do
		w="${COMP_WORDS[i]}"
		if [ -n "$skip" ]; then skip=""; continue; fi
		case "$w" in
		%s) skip=1; continue ;;
		esac
		case "$at $w" in
		%s) at="$at $w" ;;
		esac
	done
	case "$prev" in
	%s) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	esac
	case "$at" in
	posagent) words="%s" ;;
`, flags, `"`+strings.Join(paths(list), `"|"`)+`"`, flags, strings.Join(append(names(table), "help", "--help", "--version", "--config", "--state", "--json", "--debug"), " "))
	for _, v := range list {
		fmt.Fprintf(w, "\t%q) words=%q ;;\n", v.path, strings.Join(v.words(), " "))
	}
	fmt.Fprint(w, "\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _posagent posagent\n")
}

func paths(list []verb) (out []string) {
	for _, v := range list {
		out = append(out, v.path)
	}
	return out
}

func fishCompletion(w io.Writer, table []command) {
	fmt.Fprint(w, "complete -c posagent -f\n")
	top := strings.Join(names(table), " ")
	for _, v := range verbs(table) {
		parts := strings.Fields(v.path)[1:]
		here := ""
		for _, p := range parts {
			here += "__fish_seen_subcommand_from " + p + "; and "
		}
		if len(parts) == 1 {
			fmt.Fprintf(w, "complete -c posagent -n 'not __fish_seen_subcommand_from %s' -a %s -d %s\n", top, parts[0], quoted(v.cmd.short))
		} else {
			before := strings.Join(parts[:len(parts)-1], "; and __fish_seen_subcommand_from ")
			fmt.Fprintf(w, "complete -c posagent -n '__fish_seen_subcommand_from %s' -a %s -d %s\n", before, parts[len(parts)-1], quoted(v.cmd.short))
		}
		for _, f := range v.flags {
			takes := ""
			if f.value != "" {
				takes = " -r -F"
			}
			fmt.Fprintf(w, "complete -c posagent -n '%s' -l %s%s -d %s\n", strings.TrimSuffix(here, "; and "), f.name, takes, quoted(f.help))
		}
	}
}

// quoted is a text in single quotes, as fish reads it.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", " ").Replace(s) + "'"
}
