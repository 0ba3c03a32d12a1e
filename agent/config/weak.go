package config

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"posagent/schemes/wire"
)

// leastSecret is how long a secret is that no stranger tries out: as a client's token has to be.
const leastSecret = 16

// Weak names the secrets that a stranger guesses, and the lists that let each address in. A terminal works with them, as its registers and
// senders are set so; a person should know.
func (c Config) Weak() (list []*KeyError) {
	warn := func(key, format string, args ...any) {
		list = append(list, &KeyError{Where: c.origin[key], Key: key, Err: fmt.Errorf(format, args...)})
	}
	for i, e := range c.Registers() {
		at := LineKey(i)
		if host, _, err := net.SplitHostPort(e.TCP); err != nil || loopback(host) {
			continue // a cable, or this machine
		}
		if factory(e.Password) {
			warn(at+".password", "it is one that registers leave the factory with, or the next guess: six digits that are not all in order and have three different ones, here and at the register")
		}
		if e.everywhere() {
			warn(at+".allow", "it lets every address in: write the register's own, like [\"192.168.1.20\"], or leave it out")
		}
	}
	for _, secret := range []struct {
		key, what string
		value     wire.Secret
	}{
		{"hooks.authorization", "whoever shows it says that payments were made", c.Hooks.Authorization},
		{"backend.webhook_secret", "whoever has it signs webhooks", c.Backend.WebhookSecret},
		{"backend.webhook_secret_old", "whoever has it signs webhooks", c.Backend.WebhookSecretOld},
	} {
		if n := len(secret.value.Reveal()); n > 0 && n < leastSecret {
			warn(secret.key, "%d characters can be tried out, and %s: take %d at least (openssl rand -hex 16)", n, secret.what, leastSecret)
		}
	}
	return list
}

// factory reports whether a password is of the kind that registers are delivered with.
func factory(password string) bool {
	return password != "" && (wire.Guessable(password) || strings.Repeat(password[:3], 2) == password)
}

// everywhere reports whether the list of a line lets every address of IPv4 or of IPv6 in: by one prefix, or by halves of it.
func (e ECR) everywhere() bool {
	list, err := e.Allowed()
	if err != nil {
		return false // which is a fault of its own
	}
	covers := func(p netip.Prefix) bool {
		for _, l := range list {
			if l.Bits() <= p.Bits() && l.Contains(p.Addr()) {
				return true
			}
		}
		return false
	}
	all := func(halves ...string) bool {
		for _, h := range halves {
			if !covers(netip.MustParsePrefix(h)) {
				return false
			}
		}
		return true
	}
	return all("0.0.0.0/1", "128.0.0.0/1") || all("::/1", "8000::/1")
}
