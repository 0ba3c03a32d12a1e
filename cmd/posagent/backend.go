package main

import (
	"context"
	"flag"
	"os"

	"posagent/agent/config"
	"posagent/cmd/backend"
	"posagent/cmd/usage"
)

// backendCommand has the verbs of a backend that keeps its books in the state directory.
func backendCommand() command { return lifted(backend.Verbs("posagent backend", "--state DIR")) }

// lifted is a verb of a backend as a command of this program.
func lifted(v usage.Command[*backend.Call]) command {
	cmd := command{name: v.Name, args: v.Args, short: v.Short, long: v.Long, examples: v.Examples, destroys: v.Destroys, json: v.JSON}
	for _, sub := range v.Commands {
		cmd.sub = append(cmd.sub, lifted(sub))
	}
	if v.Run == nil {
		return cmd
	}
	cmd.flags = func(fs *flag.FlagSet) any {
		call := new(backend.Call)
		if v.Options != nil {
			v.Options(call, fs)
		}
		return call
	}
	cmd.run = func(ctx context.Context, c *call) error {
		to := c.opts.(*backend.Call)
		to.Program, to.Path, to.State, to.Args, to.JSON = "posagent backend", c.path, c.state, c.args, c.json
		to.Named = c.state != "" && c.state != os.Getenv("POSAGENT_STATE")
		to.Version = version
		to.In, to.Out, to.Err, to.Window, to.Log = c.in, c.out, c.err, onTerminal(c.out), logger(c)
		to.Config = func() (config.Config, error) { return loadConfig(c) }
		to.Dir = func(cfg config.Config) string { return backendDir(c, cfg) }
		to.Ended, to.Lost = storeError, "is --state the backend's directory?"
		to.Built = usage.BuiltAt(version)
		return v.Run(ctx, to)
	}
	return cmd
}
