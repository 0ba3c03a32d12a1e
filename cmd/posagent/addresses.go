package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"posagent/agent/config"
	"posagent/agent/doctor"
	"posagent/agent/ready"
)

// takenAddresses names every address that the terminal is to listen on and another program has, each with where it is set; nil = all are free, or
// say themselves what is wrong with them. It listens on each for a moment, so call it before the terminal does.
func takenAddresses(c *call, cfg config.Config) error {
	var list, none []string
	for _, l := range listens(c, cfg) {
		ln, err := net.Listen("tcp", l.address)
		switch {
		case err == nil:
			_ = ln.Close()
		case errors.Is(err, unix.EADDRINUSE):
			list = append(list, fmt.Sprintf("%s (set %s, for example to %q)", l.address, l.at, besides(l.address)))
		case errors.Is(err, unix.EADDRNOTAVAIL):
			none = append(none, fmt.Sprintf("%s is no address of this box: ip addr lists them, correct %s", l.address, l.at))
		case errors.Is(err, unix.EACCES):
			none = append(none, fmt.Sprintf("this user may not listen on %s: set %s to a port above 1023", l.address, l.at))
		}
	}
	if len(list)+len(none) == 0 {
		return nil
	}
	if len(list) == 0 {
		return fail(exitFailed, "%s", strings.Join(none, "; "))
	}
	if pid, running, err := runningPID(c); err == nil && running && pid != os.Getpid() {
		return fail(exitRefused, "another posagent, process %d, runs on %s; stop it first (posagent status%s)", pid, c.stateDir(), c.flags())
	}
	return fail(exitFailed, "%s", strings.Join(append([]string{"another program listens on " + strings.Join(list, ", on ") + "; ss -ltnp shows which"}, none...), "; "))
}

// listens are the addresses that a configuration lets the terminal listen on.
func listens(c *call, cfg config.Config) (list []listening) {
	add := func(key, name, address string) {
		if address == "" {
			return
		}
		at := name + " in " + placeIn(c, cfg).In(key)
		origin := cfg.Origin()[key]
		switch _, line, ok := strings.Cut(origin, ":"); {
		case origin == "" && configPath(c) == "":
			at = "the variable POSAGENT_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		case ok && len(cfg.More) > 0 && strings.HasPrefix(key, "ecr"): // one of several of the same name
			at += ", line " + line
		}
		list = append(list, listening{key, address, at})
	}
	add("port.listen", "[port] listen", cfg.Port.Listen)
	if len(cfg.More) == 0 {
		add("ecr.tcp", "[ecr] tcp", cfg.ECR.TCP)
	} else {
		add("ecr.tcp", "[[ecr]] tcp", cfg.ECR.TCP)
	}
	for i, e := range cfg.More {
		add(config.LineKey(i+1)+".tcp", "[[ecr]] tcp", e.TCP)
	}
	if cfg.Sandbox() {
		add("backend.listen", "[backend] listen", cfg.Backend.Listen)
	}
	return list
}

// listening is an address, and the setting that gives it.
type listening struct{ key, address, at string }

// takenByAnother names the first address of a stopped terminal at which something else listens, nil = none. It listens on none itself.
func takenByAnother(c *call, cfg config.Config) *ready.Trouble {
	for _, l := range listens(c, cfg) {
		if taken, by := doctor.Listener("/proc", l.address); taken {
			detail := "ss -ltnp run as root names it"
			if by != "" {
				detail = by
			}
			return &ready.Trouble{Cause: ready.AddressTaken, Where: l.address, Detail: detail,
				Remedy: "stop that program, or set " + l.at + " to another, for example " + strconv.Quote(besides(l.address)) + "; then {run}"}
		}
	}
	return nil
}

// besides is an address of the same host that may be free.
func besides(address string) string {
	host, number, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(number)
	if n += 100; n > 65535 {
		n -= 200
	}
	return net.JoinHostPort(host, strconv.Itoa(n))
}
