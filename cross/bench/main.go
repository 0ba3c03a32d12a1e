package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
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

func main() {
	if task := os.Getenv(envChild); task != "" {
		if err := child(task, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{ctx: ctx}
	dir := flag.String("dir", "out", "a directory on the disk to measure")
	flag.StringVar(&b.bin, "bin", "", "the program; built as it is shipped where none is given")
	flag.StringVar(&b.sizes, "sizes", "bin", "the directory of the binaries of all targets")
	flag.StringVar(&b.only, "only", "", "measure the parts alone whose names hold this")
	b.register(flag.CommandLine)
	flag.Parse()
	ok, err := b.main(*dir, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

// main prepares, measures, and prints the table.
func (b *bench) main(parent string, out io.Writer) (ok bool, err error) {
	exe, err := os.Executable()
	if err != nil {
		return false, err
	}
	b.self = []string{exe}
	if b.strace, err = exec.LookPath("strace"); err != nil {
		b.strace = ""
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return false, err
	}
	if b.dir, err = os.MkdirTemp(parent, "bench-"); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return false, err
	}
	if b.bin == "" {
		if b.bin, err = b.build(runtime.GOARCH); err != nil {
			return false, err
		}
	}
	return b.run(out)
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

// run measures everything and prints the table.
func (b *bench) run(out io.Writer) (bool, error) {
	fmt.Fprintln(out, machine(b.dir))
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"journal", b.journal}, {"journal, +5 ms a sync", b.journalSlow},
		{"outbox", b.queue}, {"outbox, +5 ms a sync", b.queueSlow}, {"port", b.port}, {"port, +5 ms a sync", b.portSlow},
		{"sale", b.withTerminal("sale", b.sale)}, {"sale, +5 ms a sync", b.withTerminal("slow", b.saleSlow)}, {"crowd", b.withTerminal("crowd", b.crowd)},
		{"start and memory", b.withTerminal("empty", b.start)}, {"serial line", b.serial}, {"code", b.code},
		{"payments", b.withSite("payments", b.payments)}, {"links, disputes, hosted build", b.withSite("services", b.services)},
		{"accept while the backend is away", b.away}, {"size", b.size},
	} {
		if !strings.Contains(part.name, b.only) {
			continue
		}
		if err := b.best(part.name, part.measure); err != nil {
			return false, err
		}
		b.table.flush(out, part.name)
	}
	return b.table.end(out), b.ctx.Err()
}

// best measures a part, again while a row of it fails, and keeps the rows of the try with the fewest failures: a neighbour
// on the machine mostly spoils a ratio. One that slows the limit alone flatters it: a quiet machine tells more.
func (b *bench) best(name string, measure func() error) error {
	root, before := b.dir, len(b.table.rows)
	defer func() { b.dir = root }()
	var kept []row
	for try := range max(1, b.tries) {
		b.dir = filepath.Join(root, fmt.Sprintf("%s-%d", strings.Fields(name)[0], try))
		if err := os.MkdirAll(b.dir, 0o700); err != nil {
			return err
		}
		b.table.rows = b.table.rows[:before:before]
		missing := len(b.table.notRun)
		if err := measure(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		got := b.table.rows[before:]
		for _, r := range got {
			if r.failed() {
				b.progress("%s, try %d of %d: %s: %s, goal %s", name, try+1, max(1, b.tries), r.what, plain(r.ratio), r.goal())
			}
		}
		if try == 0 || failures(got) < failures(kept) {
			kept = got
		}
		if failures(kept) == 0 || len(b.table.notRun) > missing {
			break
		}
	}
	b.table.rows = append(b.table.rows[:before:before], kept...)
	return nil
}

// progress says on standard error how far a long part is.
func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}

// machine says what was measured on, and how busy it was.
func machine(dir string) string {
	model := "unknown processor"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load := "?"
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(data))[:3], " ")
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s, %d processors, Linux %s, %s, %s on %s; load %s at the start.\n"+
		"Absolute figures are those of this machine at this load; ratios are to a limit measured in the same minute.",
		model, runtime.NumCPU(), strings.TrimSpace(string(kernel)), runtime.GOARCH, runtime.Version(), fileSystem(dir), load)
}
