package config

import (
	"fmt"
	"slices"
	"strings"
)

const envPrefix = "POSAGENT_"

// env applies the variables.
func (l *loader) env(env []string) {
	names := map[string]string{} // POSAGENT_ECR_SERIAL -> ecr.serial
	sections := map[string]bool{}
	var known []string
	for _, k := range l.known {
		name := envPrefix + strings.ToUpper(strings.ReplaceAll(k, ".", "_"))
		names[name] = k
		if known = append(known, name); l.fields[k].secret() {
			known[len(known)-1] += "_FILE"
		}
		first, _, _ := strings.Cut(k, ".")
		sections[strings.ToUpper(first)] = true
	}
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, envPrefix) {
			continue
		}
		first, _, _ := strings.Cut(name[len(envPrefix):], "_")
		if !sections[first] {
			l.foreign(name, known)
			continue
		}
		key, ok := names[name]
		if f := l.fields[names[strings.TrimSuffix(name, "_FILE")]]; !ok && f.path != "" && f.secret() {
			l.secretFile(f, name, f.path, value)
			continue
		}
		switch {
		case !ok:
			l.unknown(name, "", known, "variable")
		case l.fields[key].secret():
			l.fail(name, key, fmt.Errorf("a secret in a variable is seen by every child and dump: use %s_FILE", name))
		default:
			if err := l.fields[key].setText(value); err != nil {
				l.fail(name, key, err)
				continue
			}
			l.seen[key] = name
		}
	}
}

// ofCommands are the variables of the command line.
var ofCommands = []string{"POSAGENT_CONFIG", "POSAGENT_STATE", "POSAGENT_BACKUP_KEY_FILE"}

// foreign handles a variable that names no section. It accepts one of the command line's and refuses a
// misspelt name. It reports any other name and does not use it: another program may.
func (l *loader) foreign(name string, known []string) {
	if slices.Contains(ofCommands, name) {
		return
	}
	short := make([]string, 0, len(known)+len(ofCommands))
	for _, k := range slices.Concat(known, ofCommands) {
		short = append(short, k[len(envPrefix):])
	}
	if s := suggest(name[len(envPrefix):], short); s != "" {
		l.fail(name, "", fmt.Errorf("unknown variable, did you mean %s?", envPrefix+s))
		return
	}
	l.c.ignored = append(l.c.ignored, name)
}
