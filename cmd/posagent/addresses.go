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
)

// takenAddresses names every address that the terminal is to listen on and another program has, each with where it is set; nil = all are free, or
// say themselves what is wrong with them. It listens on each for a moment, so call it before the terminal does.
func takenAddresses(c *call, cfg config.Config) error {
	listens := []struct{ key, name, address string }{
		{"port.listen", "[port] listen", cfg.Port.Listen}, {"ecr.tcp", "[ecr] tcp", cfg.ECR.TCP},
	}
	for _, e := range cfg.More {
		listens = append(listens, struct{ key, name, address string }{"ecr.tcp", "[[ecr]] tcp", e.TCP})
	}
	if cfg.Sandbox() {
		listens = append(listens, struct{ key, name, address string }{"backend.listen", "[backend] listen", cfg.Backend.Listen})
	}
	var list []string
	for _, l := range listens {
		if l.address == "" {
			continue
		}
		ln, err := net.Listen("tcp", l.address)
		switch {
		case err == nil:
			_ = ln.Close()
		case errors.Is(err, unix.EADDRINUSE):
			at := l.name + " in " + placeIn(c, cfg).In(l.key)
			if cfg.Origin()[l.key] == "" && configPath(c) == "" {
				at = "the variable POSAGENT_" + strings.ToUpper(strings.ReplaceAll(l.key, ".", "_"))
			}
			list = append(list, fmt.Sprintf("%s (set %s, for example to %q)", l.address, at, besides(l.address)))
		}
	}
	if len(list) == 0 {
		return nil
	}
	if pid, running, err := runningPID(c); err == nil && running && pid != os.Getpid() {
		return fail(exitRefused, "another posagent, process %d, runs on %s; stop it first (posagent status%s)", pid, c.stateDir(), c.flags())
	}
	return fail(exitFailed, "another program listens on %s; ss -ltnp shows which", strings.Join(list, ", on "))
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
