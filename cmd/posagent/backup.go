package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"

	"posagent/agent/control"
	"posagent/agent/records/audit"
)

type backupOptions struct {
	key    string
	export bool
}

func backupCommand() command {
	return command{
		name: "backup", args: "FILE", short: "the journal into one sealed file, or readable for the merchant's own records",
		long: "Works beside the running terminal. FILE is sealed under the key in --key-file (16 bytes or more, readable by its owner only):\n" +
			"keep the key elsewhere, without it nobody reads the file. The box's own key never leaves it; posagent restore puts the journal\n" +
			"back on this box or on another one. With --export FILE is JSON, one line each sale, operation and event: no card data, no\n" +
			"secrets, and it cannot be restored. FILE is replaced whole or not at all.",
		json: []string{"posagent.backup/1", "posagent.export/1"},
		examples: []string{
			"posagent backup /media/usb/shop.bundle --key-file backup.key",
			"posagent backup --export /media/usb/shop.jsonl",
			"head -c 32 /dev/urandom | base64 > backup.key; chmod 600 backup.key    # a key",
		},
		flags: func(fs *flag.FlagSet) any {
			o := &backupOptions{}
			keyFlag(fs, &o.key)
			fs.BoolVar(&o.export, "export", false, "write readable JSON lines instead of a sealed bundle")
			return o
		},
		run: runBackup,
	}
}

func runBackup(ctx context.Context, c *call) error {
	o := c.opts.(*backupOptions)
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: into which file? (posagent backup FILE)", c.path)
	}
	if o.export {
		return runExport(ctx, c, c.args[0])
	}
	secret, err := bundleSecret(o.key)
	if err != nil {
		return err
	}
	if err := mayReplace(c.args[0]); err != nil {
		return err
	}
	if _, err := journalKeys(c); err != nil {
		return err
	}
	noteDeed(ctx, c, audit.Deed{Deed: control.Backup, Subject: filepath.Base(c.args[0])}) // first: the bundle holds its own line
	v, err := writeBundle(ctx, c, c.args[0], secret)
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, v)
	}
	fmt.Fprintf(c.out, "%s: %d KiB, generation %d of %s\n", v.File, v.Bytes>>10, v.Bundle.Generation, v.Bundle.Terminal)
	return nil
}
