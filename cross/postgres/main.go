package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"posagent/store/postgres/pgserver"
)

// envRun is what pgtest.EnvRun is: that package is for tests.
const envRun = "RUN_POSTGRES"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() > 0:
		os.Exit(ended.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "postgres:", err)
		os.Exit(1)
	}
}

// run runs a command beside a server.
func run(ctx context.Context, args []string) (err error) {
	if len(args) == 0 {
		return errors.New("usage: postgres COMMAND [ARG...]")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if pgserver.Programs() != "" {
		// Packages and their tests run at once, each with its own connections.
		server, err := pgserver.Start("fsync=off", "max_connections=400")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Remove()) }()
		cmd.Env = append(os.Environ(), envRun+"="+server.URL(""))
	}
	return cmd.Run()
}
