package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"posagent/agent/support/record"
	"posagent/agent/upstream"
	"posagent/store"
)

// command is one verb.
type command struct {
	name     string
	args     string // what follows the flags, for the usage line
	short    string // one line
	long     string // what a reader of --help needs beyond it, may be ""
	examples []string
	reads    bool                    // it reads the journal and prints: root does that as the account that owns the journal
	destroys bool                    // it gives up what cannot be had back: no suggestion names it
	json     []string                // schemas of what --json prints, nil = it prints no JSON
	flags    func(*flag.FlagSet) any // registers flags, returns the verb's own options
	run      func(context.Context, *call) error
	sub      []command
}

// call is one invocation of a verb.
type call struct {
	std
	global
	opts   any      // what flags() returned
	args   []string // positional arguments
	before int      // of them, before "--"; -1 = there is none
	cmd    *command
	table  []command       // all verbs, for those that print them
	path   string          // "register pay"
	cut    *store.CutError // of the journal that was read: said behind what is left in it
	locked error           // why the device key does not open the journal that was read
	ctx    context.Context

	recorder *record.Recorder // of the terminal that this call runs, nil = it runs none
	way      *upstream.Client // to the operator's service, nil = it was not asked
}

// global are the flags every verb takes.
type global struct {
	config string
	state  string
	json   bool
	debug  bool
}

const (
	defaultConfig = "/etc/posagent/config.toml"
	defaultState  = "/var/lib/posagent"
)

func (g *global) register(fs *flag.FlagSet) {
	fs.StringVar(&g.config, "config", g.config, "configuration `file`, or POSAGENT_CONFIG (default "+defaultConfig+" where it exists)")
	fs.StringVar(&g.state, "state", g.state, "state `directory`, or POSAGENT_STATE (default "+defaultState+")")
	fs.BoolVar(&g.json, "json", g.json, "print JSON with a versioned schema; the help of a verb names it")
	fs.BoolVar(&g.debug, "debug", g.debug, "log everything, not only warnings")
}

// flags are the global flags as they were given, for a command to type next.
func (g *global) flags() string {
	s := ""
	if g.config != "" {
		s += " --config " + g.config
	}
	if g.state != "" {
		s += " --state " + g.state
	}
	return s
}

// said is a path as an error begins with: the program's own name is put before every error anyway.
func said(path string) string { return strings.TrimPrefix(path, "posagent ") }

// tooFew refuses a --limit that asks for nothing.
func tooFew(c *call) error { return fail(exitUsage, "%s: --limit is at least 1", c.path) }

// logger writes to the talk stream: warnings and worse, or everything with --debug.
func logger(c *call) *slog.Logger {
	level := slog.LevelWarn
	if c.debug {
		level = slog.LevelDebug
	}
	to := slog.Handler(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: level}))
	if c.recorder != nil {
		to = c.recorder.Handler(to)
	}
	return slog.New(to)
}

// progress says on the talk stream, once a second at most, how far long work is.
func progress(c *call) func(what string, done, of int64) {
	last := time.Now()
	return func(what string, done, of int64) {
		if of > 0 && time.Since(last) > time.Second {
			last = time.Now()
			fmt.Fprintf(c.err, "%s %d %%\n", what, 100*done/of)
		}
	}
}
