//go:build !device

package main

import (
	"context"
	"flag"
	"os"

	"posagent/cmd/posagent/demo"
)

func demoCommand() command {
	type options struct{ keep bool }
	return command{
		name: "demo", short: "tell the whole story on this machine: backend, terminal, register and wallet",
		long:     "Runs on embedded defaults, without root, in under 90 s, and exits 0 when the books equal the journal.",
		examples: []string{"posagent demo"},
		flags: func(fs *flag.FlagSet) any {
			o := &options{}
			fs.BoolVar(&o.keep, "keep", false, "leave the scratch directory behind")
			return o
		},
		run: func(ctx context.Context, c *call) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			err = demo.Run(ctx, demo.Options{Self: self, Out: c.out, Keep: c.opts.(*options).keep})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		},
	}
}
