package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/term"

	"posagent/agent/config"
	"posagent/cmd/backend"
	"posagent/cmd/usage"
)

const (
	name         = "posagent-backend"
	defaultState = "/var/lib/posagent-backend"
	drain        = 5 * time.Second // a balancer asks several times within it
)

// call is one run of a verb.
type call struct {
	backend.Call
	database
	migration
	config, state string
	debug         bool
}

// Arguments implements usage.Printer.
func (c *call) Arguments() []string { return c.Args }

// Print implements usage.Printer.
func (c *call) Print(v any, text string) error {
	if c.JSON {
		return usage.PrintJSON(c.Out, v)
	}
	_, err := fmt.Fprintln(c.Out, text)
	return err
}

// dir is where the process keeps what is its own: its address, and what it remembers of the server.
func (c *call) dir() string { return c.state }

// every registers the flags of every verb.
func every(c *call, fs *flag.FlagSet, v usage.Verb) {
	c.register(fs)
	fs.StringVar(&c.config, "config", os.Getenv("POSAGENT_CONFIG"), "configuration `file` with [backend] and [operator], or POSAGENT_CONFIG")
	fs.StringVar(&c.state, "state", or(os.Getenv("POSAGENT_STATE"), defaultState), "`directory` of this process, or POSAGENT_STATE: backend.key, the same for all; its address; the server it saw last")
	fs.BoolVar(&c.JSON, "json", false, usage.JSONHelp(v.JSON))
	fs.BoolVar(&c.debug, "debug", false, "log everything, not only warnings")
}

func or(s, usual string) string {
	if s == "" {
		return usual
	}
	return s
}

// given completes a call before its verb runs.
func given(c *call, _ usage.Verb, path string, rest []string) {
	level := slog.LevelWarn
	if c.debug {
		level = slog.LevelDebug
	}
	c.Log = slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: level}))
	c.Program, c.Path, c.State, c.Args, c.Version = name, path, c.state, rest, linked
	c.Engine, c.Ended, c.Lost = c.engine(), ended, name+" database upgrade makes the tables"
	c.Tolerates = func(word string) bool { return slices.Contains(c.dangers(), word) }
	c.Built, c.Server = usage.BuiltAt(linked), c.server()
	c.Config = func() (config.Config, error) {
		cfg, err := config.Load(c.config, os.Environ())
		if err != nil {
			return cfg, &usage.Exit{Code: usage.ExitConfig, Err: err}
		}
		return cfg, nil
	}
	c.Dir = func(config.Config) string { return c.dir() }
}

// commands is the table of verbs.
func commands() []usage.Command[*call] {
	of := func(c *call) *backend.Call { return &c.Call }
	serve := usage.Lift(backend.Verbs(name, "--db URL"), of)
	list := serve.Commands
	serve.Commands = nil
	serve.Name, serve.Short = "serve", "every service with real books, beside others on the same database"
	serve.Long = "What is done where no verb is typed. It runs until SIGTERM, and prints `listening on URL` when it is ready. GET /readyz says 204 to a\n" +
		"balancer; after SIGTERM it says 503 for --drain before the listener closes."
	serve.Examples = []string{
		name + " serve --db-file /etc/posagent/database --listen 10.0.0.5:8490",
		name + " --db 'postgres://posagent@db1,db2,db3/pos?sslmode=verify-full' --drain 15s",
	}
	list = append([]usage.Command[*call]{serve}, list...)
	list = append(list, databaseVerbs(), migrateVerb(), explainVerb())
	return append(list, usage.Texts[*call]("posagent.backend-", program)...)
}

// shell is how the verbs are called.
func shell(in io.Reader, out *usage.Output, talk io.Writer) usage.Shell[*call] {
	return usage.Shell[*call]{
		Name: name, Usual: "serve", Commands: commands(), Every: every, Given: given, Overview: overview, Out: out, Err: talk,
		New: func() *call {
			c := &call{}
			c.Drain = drain
			c.In, c.Out, c.Err, c.Window = in, out, talk, out != nil && window(out.To)
			return c
		},
	}
}

// window reports whether w may be drawn on.
func window(w io.Writer) bool {
	f, is := w.(*os.File)
	return is && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// program is what this program says of itself.
func program() usage.Program {
	return usage.Program{
		Name: name, Version: linked, What: "the backend of payment terminals on a PostgreSQL database", About: manualAbout, More: manualMore,
		Flags: func(fs *flag.FlagSet) { every(&call{}, fs, usage.Verb{JSON: []string{"of each verb"}}) },
		First: []string{"help", "--help", "--version", "--db", "--db-file", "--state", "--config"},
		Verbs: shell(nil, nil, nil).Described(), Codes: exitCodes(),
	}
}

// exitCodes are the numbers of posagent, with what they mean here. A program that enrols others has no 4 and 5.
func exitCodes() []usage.Code {
	return []usage.Code{
		{Number: usage.ExitOK, Means: "ok"}, {Number: usage.ExitFailed, Means: "failed"}, {Number: usage.ExitUsage, Means: "usage"},
		{Number: usage.ExitConfig, Means: "config"}, {Number: usage.ExitRefused, Means: "refused"},
		{Number: usage.ExitNoBackend, Means: "database or backend unreachable"}, {Number: usage.ExitAuth, Means: "auth rejected"},
		{Number: usage.ExitDamaged, Means: "store damaged"}, {Number: usage.ExitInterrupted, Means: "interrupted"},
	}
}

const manualAbout = `.B posagent\-backend
serves the services of
.B posagent backend
from a PostgreSQL database, 15 or later. Any number of processes share one; each has a directory of its own, and all have
the same backend.key in it.
`

const manualMore = `.SH FILES
.TP
` + defaultState + `/backend.key
the key that card data and secrets are sealed under; the first process makes it, the others get a copy
.TP
` + defaultState + `/primary.json
the server that this process saw last
.SH SEE ALSO
.BR posagent (1)
`

// overview writes what this program is, its verbs and its exit codes.
func overview(w io.Writer) {
	p := program()
	fmt.Fprint(w, "posagent-backend serves payment terminals from a PostgreSQL database, beside others of its kind.\n\n")
	fmt.Fprint(w, "  posagent-backend --db URL --state DIR\n\nVerbs:\n")
	for _, v := range p.Verbs {
		fmt.Fprintf(w, "  %-12s %s\n", v.Name, v.Short)
	}
	fmt.Fprint(w, "\nposagent-backend VERB --help starts with examples.\n"+p.CodeLine()+"\n")
}

// memoryFile is where a process remembers the server.
func memoryFile(dir string) string { return filepath.Join(dir, "primary.json") }
