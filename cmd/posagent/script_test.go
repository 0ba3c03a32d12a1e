package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// sandbox is the configuration of the scripts that run a terminal.
const sandbox = `[port]
listen = "127.0.0.1:0"
[ecr]
tcp = "127.0.0.1:%s"
[methods]
poll = "50ms"
[display]
console = false
[backend]
listen = "127.0.0.1:0"
wallet_delay = "100ms"
`

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"posagent": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(run(ctx, os.Args[1:], std{os.Stdin, os.Stdout, os.Stderr}))
	}})
}

// TestScripts drives the program as a user does; `exits CODE posagent …` wants that exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			ln, err := net.Listen("tcp", "127.0.0.1:0") // a free port for the register's line
			if err != nil {
				return err
			}
			_, port, _ := net.SplitHostPort(ln.Addr().String())
			env.Setenv("PORT", port)
			text := fmt.Sprintf(sandbox, port)
			for _, name := range []string{"run.toml", "second.toml"} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
					return err
				}
			}
			return ln.Close()
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"listening": func(ts *testscript.TestScript, neg bool, args []string) { // listening HOST:PORT waits for it
				deadline := time.Now().Add(20 * time.Second)
				for {
					conn, err := net.DialTimeout("tcp", args[0], time.Second)
					if err == nil {
						_ = conn.Close()
						return
					}
					if time.Now().After(deadline) {
						ts.Fatalf("%v", err)
					}
					<-time.After(20 * time.Millisecond)
				}
			},
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				if err := ts.Exec(args[1], args[2:]...); err != nil {
					coded, ok := err.(interface{ ExitCode() int })
					if !ok {
						ts.Fatalf("%v", err)
					}
					got = coded.ExitCode()
				}
				if got != want {
					ts.Fatalf("exit code %d, want %d", got, want)
				}
			},
		},
	})
}
