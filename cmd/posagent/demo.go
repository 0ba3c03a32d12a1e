package main

import (
	"context"
	"flag"
	"os"

	"posagent/cmd/posagent/demo"
)

func demoCommand() command {
	type options struct{ keep, verbose bool }
	return command{
		name: "demo", short: "tell the whole story on this machine: backend, terminal, register and wallet",
		long:     "Runs on embedded defaults, without root, in under 90 s, and exits 0 when the books equal the journal.",
		examples: []string{"posagent demo", "posagent demo -v"},
		flags: func(fs *flag.FlagSet) any {
			o := &options{}
			fs.BoolVar(&o.keep, "keep", false, "leave the scratch directory behind")
			fs.BoolVar(&o.verbose, "v", false, "show every message of the register's line, every code and every receipt")
			return o
		},
		run: func(ctx context.Context, c *call) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			err = demo.Run(ctx, demo.Options{Self: self, Out: c.out, Narrow: onTerminal(c.out), Keep: c.opts.(*options).keep, Verbose: c.opts.(*options).verbose})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		},
	}
}
