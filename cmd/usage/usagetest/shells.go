package usagetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
)

// typed is a command line, as its words: the last one is completed.
type typed []string

// patience is how long a shell has for all its answers, on a machine that is busy with other things.
const patience = 5 * time.Minute

// aFile lies where the shells are asked: it is offered where a value may stand.
const aFile = "a-file"

// complete asks a shell behind the program, behind each verb, and behind each flag that takes a value.
func (s Subject) complete(t *testing.T, shell string, ask func(t *testing.T, path, script string, lines []typed) []string) {
	path := s.Tool(t, shell)
	if path == "" {
		return
	}
	code, script, talk := s.Call("completion", shell)
	require.Zero(t, code, talk)

	var lines []typed
	var want [][]string
	expect := func(words []string, last string, offered []string) { // of these, those that begin with last
		lines = append(lines, append(slices.Clone(words), last))
		offered = slices.DeleteFunc(slices.Clone(offered), func(w string) bool { return !strings.HasPrefix(w, last) })
		slices.Sort(offered)
		want = append(want, offered)
	}
	first := append(usage.Names(s.Program.Verbs), s.Program.First...)
	expect([]string{s.Program.Name}, "--", first)
	for _, name := range first {
		expect([]string{s.Program.Name}, name, first)
	}
	for _, r := range s.Program.Rows() {
		words := strings.Fields(r.Path)
		offered := append(usage.Names(r.Sub), "--help")
		for name, valued := range flags(r.Verb.Flags) {
			offered = append(offered, "--"+name)
			if valued {
				expect(append(slices.Clone(words), "--"+name), "", []string{aFile})
			}
		}
		expect(words, "--", offered)
		for _, v := range r.Sub {
			expect(words, v.Name, offered)
		}
		if len(r.Sub) == 0 && r.Args != "" {
			expect(words, aFile[:2], []string{aFile})
		}
	}

	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "completion")
	require.NoError(t, os.WriteFile(filepath.Join(dir, aFile), nil, 0o600))
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	t.Chdir(dir)
	got := ask(t, path, file, lines)
	require.Len(t, got, len(lines))
	for i, line := range lines {
		answer := strings.Fields(got[i])
		slices.Sort(answer)
		require.Equal(t, want[i], slices.Compact(answer), "behind %q", strings.Join(line, " "))
	}
}

// run gives a shell a script, and returns what it printed.
func run(t *testing.T, script string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], file)...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "ZDOTDIR="+home, "TERM=dumb", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// answers splits what a shell printed at the lines that end an answer.
func answers(printed string) []string {
	list := strings.Split(printed, "\n.\n")
	return list[:len(list)-1]
}

// inBash asks bash, which completes a file by itself where the function offers nothing.
func inBash(t *testing.T, bash, script string, lines []typed) []string {
	ask := "source " + script + "\nregistered=$(complete -p " + lines[0][0] + `) || exit 1
[[ $registered == *"-o default"* ]] || exit 1
registered=${registered##*-F }
ask() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	${registered%% *}
	[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
	printf '\n%s' "${COMPREPLY[@]}"
	printf '\n.\n'
}
`
	for _, line := range lines {
		ask += "ask"
		for _, word := range line {
			ask += " '" + word + "'"
		}
		ask += "\n"
	}
	return answers(run(t, ask, bash, "--norc", "--noprofile"))
}

// inFish asks fish for the completions of a line.
func inFish(t *testing.T, fish, script string, lines []typed) []string {
	ask := "source " + script + "\n"
	for _, line := range lines {
		ask += "echo\ncomplete -C '" + strings.Join(line, " ") + "' | string replace -r '\\t.*' ''\necho .\n"
	}
	return answers(run(t, ask, fish, "--no-config"))
}

// inZsh asks zsh, which has the script as a package puts it, and as one of its start files.
func inZsh(t *testing.T, zsh, script string, lines []typed) []string {
	installed := filepath.Join(t.TempDir(), "_"+strings.ReplaceAll(lines[0][0], "-", "_"))
	require.NoError(t, os.Link(script, installed))
	got := zshAfter(t, zsh, "fpath=("+filepath.Dir(installed)+" $fpath)\nautoload -U compinit\ncompinit -u -D\n", lines)
	some := min(len(lines), 20)
	require.Equal(t, got[:some], zshAfter(t, zsh, "autoload -U compinit\ncompinit -u -D\nsource "+script+"\n", lines[:some]))
	return got
}

// zshAfter lets an interactive zsh complete each line in its editor after a start, and writes down what would be offered.
func zshAfter(t *testing.T, zsh, start string, lines []typed) []string {
	dir := t.TempDir()
	out, asked, setup := filepath.Join(dir, "out"), filepath.Join(dir, "asked"), filepath.Join(dir, "setup")
	text := ""
	for _, line := range lines {
		text += strings.Join(line, " ") + "\n"
	}
	require.NoError(t, os.WriteFile(asked, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(out, nil, 0o600))
	require.NoError(t, os.WriteFile(setup, []byte(start+`unsetopt beep auto_list auto_menu
compadd() {
	if [[ -z ${@[(r)-[OAD]]} ]]; then # else the completion system asks for itself
		local -a hits
		builtin compadd -O hits "$@"
		print -rl -- $hits >>| `+out+`
	fi
	builtin compadd "$@"
}
each() {
	local line
	while IFS= read -r line; do
		BUFFER=$line
		CURSOR=$#BUFFER
		zle complete-word
		print -r -- $'\n.' >>| `+out+`
	done < `+asked+`
	BUFFER=
	print -r -- all-${:-answered}
}
zle -N each
bindkey '^X' each
print -r -- is-${:-ready}
`), 0o600))
	run(t, `zmodload zsh/zpty || exit 1
zpty z `+strconv.Quote(zsh)+` -f -i
zpty -w z 'source `+setup+`'
zpty -r z said '*is-ready*' || exit 1
zpty -w -n z $'\x18'
zpty -r z said '*all-answered*' || exit 1
zpty -d z
`, zsh, "-f")
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	return answers("\n" + string(data))
}
