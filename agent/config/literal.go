package config

import (
	"errors"
	"fmt"
	"slices"
)

// Literal returns a value of a key as the file has it. It takes the value as a variable has it: 50, 10m, a,b. It fails where the key is
// unknown or a secret, and where the value is none of its kind.
func Literal(key, value string) (string, error) {
	c := Default()
	list := fields(&c)
	i := slices.IndexFunc(list, func(f field) bool { return f.path == key })
	if i < 0 {
		known := make([]string, 0, len(list))
		for _, f := range list {
			known = append(known, f.path)
		}
		if s := suggest(key, known); s != "" {
			return "", fmt.Errorf("unknown key, did you mean %s?", s)
		}
		return "", errors.New("unknown key (posagent config show lists them)")
	}
	f := list[i]
	if f.secret() || f.secrets() || isPassword(key) {
		return "", errors.New("a secret does not stand in a command: give it with a file")
	}
	if err := f.setText(value); err != nil {
		return "", err
	}
	return tomlText(f.v), nil
}
