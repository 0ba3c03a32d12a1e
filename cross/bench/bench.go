package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// counts say how much is measured.
type counts struct {
	tries      int // of a part of which a row fails
	turns      int // of ours and limit
	ops        int // of one caller in a turn
	slow       int // the same where a sync takes 5 ms more
	queued     int // operations of one caller in a turn
	queuedSlow int // the same where a sync takes 5 ms more
	sales      int
	starts     int
	old        int           // sales in the journal
	echoes     int           // on the serial line
	codes      int           // QR
	frames     int           // pictures of the screen
	paid       int           // payments of a turn on PostgreSQL
	many       int           // payments in the largest books there
	poll       time.Duration // between two status questions of a sale
	pause      time.Duration // until the log is folded into the file
}

func (c *counts) register(fs *flag.FlagSet) {
	fs.IntVar(&c.tries, "tries", 3, "how often a part may be measured, if a row of it fails")
	fs.IntVar(&c.turns, "turns", 5, "turns of ours and limit")
	fs.IntVar(&c.ops, "ops", 1000, "journal writes of one caller in a turn")
	fs.IntVar(&c.slow, "slow", 100, "the same, where a sync takes 5 ms more")
	fs.IntVar(&c.queued, "queued", 500, "accepted operations of one caller in a turn")
	fs.IntVar(&c.queuedSlow, "queuedslow", 100, "the same, where a sync takes 5 ms more")
	fs.IntVar(&c.sales, "sales", 30, "sales in a run")
	fs.IntVar(&c.starts, "starts", 11, "starts of the program")
	fs.IntVar(&c.old, "old", 10000, "old sales in the journal")
	fs.IntVar(&c.echoes, "echoes", 1000, "messages on the serial line")
	fs.IntVar(&c.codes, "codes", 300, "QR codes")
	fs.IntVar(&c.frames, "frames", 100, "pictures of the screen")
	fs.IntVar(&c.paid, "paid", 1000, "payments of a turn on PostgreSQL; fewer of few callers")
	fs.IntVar(&c.many, "many", 1_000_000, "payments in the largest books on PostgreSQL")
	fs.DurationVar(&c.poll, "poll", 400*time.Millisecond, "between two status questions of a sale: long enough for the states to be apart")
	fs.DurationVar(&c.pause, "pause", 700*time.Millisecond, "until the journal's log is folded into its file")
}

// bench is one run.
type bench struct {
	counts
	ctx    context.Context
	dir    string   // scratch, on the disk that is measured
	bin    string   // the program
	sizes  string   // where the binaries of all targets lie
	self   []string // runs this program, for a child of it
	strace string   // "" = not there
	only   string   // parts whose names hold it
	peer   string   // the source of the embedded queue; "" = below the current directory
	table  table
}

// shipped are the flags of cross/cross.sh.
var shipped = []string{"-trimpath", "-tags", "nethttpomithttp2", "-ldflags=-s -w"}

func (b *bench) build(arch string) (string, error) {
	bin := filepath.Join(b.dir, "posagent-"+arch)
	args := slices.Concat([]string{"build"}, shipped, []string{"-o", bin, "posagent/cmd/posagent"})
	cmd := exec.CommandContext(b.ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOARM=7")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build for %s: %w\n%s", arch, err, out)
	}
	return bin, nil
}

// progress says on standard error how far a long part is.
func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}

// envChild tells this program that it is a child, and its task.
const envChild = "POSAGENT_BENCH_CHILD"

// slowly makes a command of which every sync takes 5 ms more. The syncs are written to trace, "" = nowhere.
func (b *bench) slowly(args []string, task, trace string, out io.Writer) *exec.Cmd {
	if trace == "" {
		trace = os.DevNull
	}
	all := append([]string{"-f", "-qq", "--seccomp-bpf", "-o", trace, "-e", "trace=fsync,fdatasync",
		"-e", "inject=fsync,fdatasync:delay_exit=5000"}, args...)
	cmd := exec.CommandContext(b.ctx, b.strace, all...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if task != "" {
		cmd.Env = append(os.Environ(), envChild+"="+task)
	}
	return cmd
}
