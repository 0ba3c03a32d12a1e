package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

func versionCommand() command {
	return command{
		name: "version", short: "what this binary is, and what changed",
		json:     []string{"posagent.version/1", "posagent.changes/1"},
		examples: []string{"posagent version", "posagent version --json", "posagent version --changes"},
		flags: func(fs *flag.FlagSet) any {
			return fs.Bool("changes", false, "print what each version changed, the newest first")
		},
		run: func(_ context.Context, c *call) error {
			if *c.opts.(*bool) {
				return showChanges(c.out, c.json)
			}
			v := struct {
				Schema  string            `json:"schema"`
				Version string            `json:"version"`
				Go      string            `json:"go"`
				OS      string            `json:"os"`
				Arch    string            `json:"arch"`
				Modules map[string]string `json:"modules"`
			}{"posagent.version/1", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, map[string]string{}}
			if bi, ok := debug.ReadBuildInfo(); ok {
				for _, m := range bi.Deps {
					v.Modules[m.Path] = m.Version
				}
			}
			if c.json {
				return printJSON(c.out, v)
			}
			fmt.Fprintf(c.out, "posagent %s %s/%s %s\n", v.Version, v.OS, v.Arch, v.Go)
			return nil
		},
	}
}
