package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"

	"posagent/cmd/usage"
)

type updateOptions struct {
	check, rollback, status, again bool
	from                           string
}

func updateCommand() command {
	return command{
		name: "update", short: "take a newer, signed program, or put the one before in place again",
		long: "Asks posagent-update, a program of its own, which runs as root. The new program is on trial: where the terminal is not as before\n" +
			"within 60 s, the one before is put back. No sale is cut off for it.",
		json:     []string{"posagent.update-offer/1", "posagent.update/1"},
		examples: []string{"posagent update --offered", "sudo posagent update", "sudo posagent update --folder /media/stick", "sudo posagent update --rollback", "posagent update --status"},
		flags: func(fs *flag.FlagSet) any {
			o := &updateOptions{}
			fs.BoolVar(&o.check, "offered", false, "say what is offered, and change nothing")
			usage.Old(fs, "check", "offered")
			fs.BoolVar(&o.rollback, "rollback", false, "put the program before in place again")
			fs.BoolVar(&o.status, "status", false, "say what the last update came to")
			fs.BoolVar(&o.again, "again", false, "also a version that was taken back, that the fleet holds, or that other boxes are to have first")
			fs.StringVar(&o.from, "folder", "", "a `folder` with a copy of the repository, as on a stick")
			usage.Old(fs, "from", "folder")
			return o
		},
		run: runUpdate,
	}
}

// runUpdate lets posagent-update do it, and has its exit code.
func runUpdate(ctx context.Context, c *call) error {
	o := c.opts.(*updateOptions)
	verb := "update"
	for _, v := range []struct {
		asked bool
		name  string
	}{{o.check, "check"}, {o.rollback, "rollback"}, {o.status, "status"}} {
		if v.asked && verb != "update" {
			return fail(exitUsage, "%s: --offered, --rollback or --status, not two of them", c.path)
		}
		if v.asked {
			verb = v.name
		}
	}
	program, err := updater()
	if err != nil {
		return err
	}
	if verb != "status" && os.Geteuid() != 0 {
		return fail(exitRefused, "a program is replaced by root alone (sudo posagent update; posagent update --status tells what came of the last one)")
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{verb, "--program", own}
	if c.state != "" {
		args = append(args, "--terminal", c.stateDir())
	}
	if c.json {
		args = append(args, "--json")
	}
	if o.again {
		args = append(args, "--again")
	}
	if o.from != "" {
		args = append(args, "--from", o.from)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = c.out, c.err
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 0 {
		return exitWith(ended.ExitCode(), errors.New("")) // it has said why
	}
	return err
}

// updater finds posagent-update: beside this program, or where programs lie.
func updater() (string, error) {
	const name = "posagent-update"
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), name)
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fail(exitFailed, "posagent-update is not on this box (install its package: posagent-update_VERSION_TARGET.deb or .ipk)")
	}
	return path, nil
}
