package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_D2WhatAStrangerGuessesIsNamed: passwords of a factory's kind, lists that let every address in, and short secrets of webhooks are
// named by their key and place. On a cable and on this machine nobody guesses. A list of everything in place of a password opens no line.
func TestField2_D2WhatAStrangerGuessesIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string // keys
	}{
		"zeros":                 {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"000000\"\n", []string{"ecr.password"}},
		"in order":              {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"123456\"\n", []string{"ecr.password"}},
		"backwards, over zero":  {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"210987\"\n", []string{"ecr.password"}},
		"two digits":            {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"121121\"\n", []string{"ecr.password"}},
		"three digits twice":    {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"147147\"\n", []string{"ecr.password"}},
		"no factory's":          {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"473829\"\n", nil},
		"on this machine":       {"[ecr]\ntcp = \"127.0.0.1:20007\"\npassword = \"000000\"\n", nil},
		"on a cable":            {"[ecr]\nserial = \"/dev/ttyS0\"\npassword = \"000000\"\n", nil},
		"the second line":       {"[[ecr]]\nserial = \"/dev/ttyS0\"\n[[ecr]]\ntcp = \"192.168.1.5:20007\"\npassword = \"111111\"\n", []string{"ecr[2].password"}},
		"everywhere":            {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"473829\"\nallow = [\"0.0.0.0/0\"]\n", []string{"ecr.allow"}},
		"everywhere, in IPv6":   {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"473829\"\nallow = [\"::/0\"]\n", []string{"ecr.allow"}},
		"everywhere, by halves": {"[ecr]\ntcp = \"0.0.0.0:20007\"\npassword = \"473829\"\nallow = [\"0.0.0.0/1\", \"128.0.0.0/1\"]\n", []string{"ecr.allow"}},
		"everywhere, and said":  {"[ecr]\nprotocol = \"jsonl\"\ntcp = \"0.0.0.0:20017\"\nopen = true\nallow = [\"0.0.0.0/0\"]\n", []string{"ecr.allow"}},
		"one network":           {"[ecr]\ntcp = \"0.0.0.0:20007\"\nallow = [\"10.0.0.0/8\"]\n", nil},
		"one letter":            {"[hooks]\nauthorization = \"x\"\n", []string{"hooks.authorization"}},
		"short, to sign with":   {"[backend]\nwebhook_secret = \"abcdef\"\nwebhook_secret_old = \"b\"\n", []string{"backend.webhook_secret", "backend.webhook_secret_old"}},
		"long enough":           {"[hooks]\nauthorization = \"0123456789abcdef\"\n", nil},
		"nothing is set anyhow": {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := loadText(t, tc.text, nil)
			require.NoError(t, err)
			var keys []string
			for _, w := range c.Weak() {
				keys = append(keys, w.Key)
				require.Contains(t, w.Where, "c.toml:", "%s has its place", w.Key)
				for _, secret := range c.Secrets() {
					require.NotContains(t, w.Err.Error(), `"`+secret+`"`)
				}
			}
			require.Equal(t, tc.want, keys)
		})
	}
	for _, list := range []string{`["0.0.0.0/0"]`, `["192.168.1.20", "::/0"]`} {
		_, err := loadText(t, "[ecr]\nprotocol = \"jsonl\"\ntcp = \"0.0.0.0:20017\"\nallow = "+list+"\n", nil)
		require.ErrorContains(t, err, "is open to the network", list)
	}
}
