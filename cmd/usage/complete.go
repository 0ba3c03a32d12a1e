package usage

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Shells are those that Completion knows.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Completion writes what makes a shell complete verbs and flags, and files where a flag or an argument wants a value. It returns false
// for a shell that is not known.
func (p Program) Completion(w io.Writer, shell string) bool {
	switch shell {
	case "bash":
		fmt.Fprintf(w, offer+bash, p.function(), p.Name, p.paths("|"), p.valued("|"), p.cases(bashWords))
	case "zsh":
		fmt.Fprintf(w, "#compdef %[2]s\n"+offer+zsh, p.function(), p.Name, p.paths("|"), p.valued("|"), p.cases(bashWords))
	case "fish":
		fmt.Fprintf(w, fish, p.function(), p.Name, p.paths(" "), p.valued(" "), p.cases(fishWords))
	default:
		return false
	}
	return true
}

// offer is of bash and zsh alike. Its arguments are the words before the one that is completed. It prints what may stand there, and
// nothing where that is a value. All templates take the name of the functions, the program, its verbs, its flags that take a value, and
// what is offered behind each verb.
const offer = `%[1]s_offer() {
	local at=%[2]s value="" w
	for w in "$@"; do
		if [ -n "$value" ]; then value=""; continue; fi
		case "$at $w" in
		%[3]s) at="$at $w" ;;
		%[4]s) value=1 ;;
		esac
	done
	if [ -n "$value" ]; then return; fi
	case "$at" in
%[5]s	esac
}
`

// bash completes files where nothing is offered.
const bash = `%[1]s() {
	COMPREPLY=($(compgen -W "$(%[1]s_offer "${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F %[1]s %[2]s
`

// zsh either loads the file as a function of that name, at its first use, or reads it as one of its start files.
const zsh = `%[1]s() {
	local offered
	offered=$(%[1]s_offer "${(@)words[2,CURRENT-1]}")
	compadd -- ${=offered} || _files
}
if [[ "${funcstack[1]}" = %[1]s ]]; then %[1]s "$@"; else compdef %[1]s %[2]s; fi
`

// fish also shows what each word means.
const fish = `function %[1]s_offer
	set -l at %[2]s
	set -l value 0
	set -l typed (commandline -opc)
	set -e typed[1]
	for w in $typed
		if test $value = 1
			set value 0
			continue
		end
		switch "$at $w"
			case %[3]s
				set at "$at $w"
			case %[4]s
				set value 1
		end
	end
	if test $value = 1
		__fish_complete_path (commandline -ct)
		return
	end
	switch "$at"
%[5]s	end
end
complete -c %[2]s -f -a '(%[1]s_offer)'
`

// function is the name of the shells' functions.
func (p Program) function() string { return "_" + strings.ReplaceAll(p.Name, "-", "_") }

// paths are all verbs, as patterns of a shell.
func (p Program) paths(between string) string {
	var list []string
	for _, r := range p.Rows() {
		list = append(list, quoted(r.Path))
	}
	return strings.Join(list, between)
}

// valued are the flags that take a value, each behind its verb: a flag of another verb may have the same name and take none.
func (p Program) valued(between string) string {
	var list []string
	add := func(path string, flags func(*flag.FlagSet)) {
		for _, f := range FlagsOf(flags) {
			if f.Value != "" {
				list = append(list, quoted(path+" --"+f.Name))
			}
		}
	}
	add(p.Name, p.Flags)
	for _, r := range p.Rows() {
		add(r.Path, r.Verb.Flags)
	}
	return strings.Join(list, between)
}

// word is one that is offered, and what it means.
type word struct{ text, means string }

// cases are the branches of what is offered behind each verb, in the language of a shell.
func (p Program) cases(say func(at string, list []word, files bool) string) string {
	var first []word
	for _, v := range p.Verbs {
		first = append(first, word{v.Name, v.Short})
	}
	for _, text := range p.First {
		first = append(first, word{text, ""})
	}
	all := say(p.Name, first, false)
	for _, r := range p.Rows() {
		var list []word
		for _, v := range r.Sub {
			list = append(list, word{v.Name, v.Short})
		}
		for _, f := range FlagsOf(r.Verb.Flags) {
			list = append(list, word{"--" + f.Name, f.Help})
		}
		all += say(r.Path, append(list, word{"--help", "examples, and what it does"}), r.Args != "")
	}
	return all
}

func bashWords(at string, list []word, _ bool) string {
	var texts []string
	for _, w := range list {
		texts = append(texts, w.text)
	}
	return fmt.Sprintf("\t%s) echo \"%s\" ;;\n", quoted(at), strings.Join(texts, " "))
}

func fishWords(at string, list []word, files bool) string {
	text := "\t\tcase " + quoted(at) + "\n\t\t\tprintf '%s\\t%s\\n'"
	for _, w := range list {
		text += " " + quoted(w.text) + " " + quoted(w.means)
	}
	if files {
		text += "\n\t\t\t__fish_complete_path (commandline -ct)"
	}
	return text + "\n"
}

// quoted is a text in single quotes, as fish reads it. What bash and zsh get of a table has neither quotes nor backslashes.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", " ").Replace(s) + "'"
}
