package backend

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"posagent/agent/config"
	"posagent/cmd/usage"
	"posagent/schemes/wire"
)

// DemoCredentials is the danger that --tolerate takes: the credentials that the documents print, on an address that other
// machines reach.
const DemoCredentials = "demo-credentials"

// Printed are the keys of the credentials that have the value which the documents print. Whoever has read them may begin
// payments with any one of these. A pair is known by its secret. One that is set to "" is off, and no such key.
func Printed(cfg config.Config) (keys []string) {
	own, known := cfg.Backend, config.Default().Backend
	for _, c := range []struct {
		key        string
		own, known wire.Secret
	}{
		{"backend.credentials.bearer", own.Credentials.Bearer, known.Credentials.Bearer},
		{"backend.credentials.consumer_secret", own.Credentials.ConsumerSecret, known.Credentials.ConsumerSecret},
		{"backend.credentials.client_secret", own.Credentials.ClientSecret, known.Credentials.ClientSecret},
		{"backend.credentials.secret", own.Credentials.Secret, known.Credentials.Secret},
		{"backend.credentials.api_key", own.Credentials.APIKey, known.Credentials.APIKey},
		{"backend.fleet_token", own.FleetToken, known.FleetToken},
	} {
		if c.own != "" && c.own == c.known {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// Exposed is why a backend must not listen on an address, one *config.KeyError for each credential, nil = it may. Only an
// address of this machine alone keeps the printed ones from others; a name is judged once it is listened on.
func Exposed(cfg config.Config, listen string) error {
	host, _, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	if err != nil || ip == nil && host != "" || ip.IsLoopback() {
		return nil
	}
	var list []error
	for _, key := range Printed(cfg) {
		list = append(list, &config.KeyError{Key: key, Err: fmt.Errorf(
			"has the value that the documents print, and other machines reach %s: set %s_file to a file with one of your own, switch it off by %[2]s = \"\", or listen on 127.0.0.1",
			listen, key[strings.LastIndexByte(key, '.')+1:])})
	}
	return errors.Join(list...)
}

// Tolerates reads the dangers of --tolerate: whether printed credentials are among them. It fails at a word that is none.
func Tolerates(words string) (bool, error) {
	list := strings.FieldsFunc(words, func(r rune) bool { return r == ',' || r == ' ' })
	for _, word := range list {
		if word != DemoCredentials {
			return false, usage.Fail(usage.ExitUsage, "--tolerate: no danger %q: "+DemoCredentials, word)
		}
	}
	return slices.Contains(list, DemoCredentials), nil
}

// guarded refuses to listen where printed credentials would be accepted from other machines, and says so where that is tolerated.
func (s *Serving) guarded(listen string) error {
	err := Exposed(s.Config, listen)
	switch {
	case err == nil:
		return nil
	case s.Tolerate:
		for _, p := range config.Problems(err) {
			s.Log.Warn("a printed credential is accepted from other machines (--tolerate "+DemoCredentials+")", "key", p.Key, "listen", listen)
		}
		return nil
	}
	return usage.Fail(usage.ExitConfig, "%w\n(--tolerate "+DemoCredentials+" takes the danger: anybody who reaches the address may begin payments)", err)
}
