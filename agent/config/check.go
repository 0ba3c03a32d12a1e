package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check collects field errors.
type check struct {
	errs  []*KeyError
	allow []string // of the register line that is checked: a register on the network is meant
}

func (k *check) fail(key, format string, args ...any) {
	k.errs = append(k.errs, &KeyError{Key: key, Err: fmt.Errorf(format, args...)})
}

func (k *check) oneOf(key, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		k.fail(key, "%q is none of %s", got, strings.Join(allowed, ", "))
	}
}

func (k *check) between(key string, d, low, high time.Duration) {
	if d < low || d > high {
		k.fail(key, "%v is not between %v and %v", d, low, high)
	}
}

func (k *check) listen(key, s string, local bool) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		k.fail(key, "%q is not host:port", s)
		return
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		k.fail(key, "%q has no port number", s)
	}
	switch {
	case host == "" && strings.HasPrefix(key, "ecr") && len(k.allow) > 0:
		k.fail(key, "%q names no address: write \"0.0.0.0:%s\"", s, port)
	case host == "" && local:
		k.fail(key, "%q names no address: write \"127.0.0.1:%s\"", s, port)
	case host == "":
		k.fail(key, "%q names no address: write \"127.0.0.1:%s\", or \"0.0.0.0:%s\" for every network", s, port, port)
	}
	if local && host != "" && !loopback(host) {
		k.fail(key, "%q is not this machine only", s)
	}
}

func (k *check) url(key, s string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		k.fail(key, "not an https:// address")
	case u.User != nil:
		k.fail(key, "credentials do not belong into an address, see [upstream.auth]")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		k.fail(key, "ends in ? or #")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		k.fail(key, "http would send the credentials in clear: use https")
	}
}

func (k *check) path(key, s string) {
	if s != "" && !isPath(s) {
		k.fail(key, "%q is not an absolute path", s)
	}
}

func isPath(s string) bool { return filepath.IsAbs(s) && filepath.Clean(s) == s }
