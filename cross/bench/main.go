package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

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

// child does what a parent asked for and prints JSON.
func child(task string, out io.Writer) error {
	var kind, dir string
	var turns, ops int
	if _, err := fmt.Sscanf(task, "%s %d %d %s", &kind, &turns, &ops, &dir); err != nil {
		return fmt.Errorf("task %q: %w", task, err)
	}
	switch kind {
	case "journal":
		results, err := measureJournal(context.Background(), dir, turns, ops)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(results)
	case "queue":
		results, err := measureQueues(context.Background(), dir, turns, ops, os.Getenv(envPeer))
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(results)
	case "raw":
		limit, err := rawChild(dir, turns, ops)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(limit)
	case "sync":
		syncs, err := rawSyncs(dir, ops)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(syncs)
	}
	return fmt.Errorf("task %q is not known", task)
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
		{"sale", b.withTerminal("sale", b.sale)}, {"sale, +5 ms a sync", b.withTerminal("slow", b.saleSlow)}, {"sale over HTTP", b.withTerminal("tills", b.tills)}, {"crowd", b.withTerminal("crowd", b.crowd)},
		{"start and memory", b.withTerminal("empty", b.start)}, {"serial line", b.serial}, {"code", b.code}, {"screen", b.screen},
		{"payments", b.withSite("payments", b.payments)}, {"links, disputes, hosted build", b.withSite("services", b.services)},
		{"postgres", b.postgres}, {"accept while the backend is away", b.away}, {"size", b.size},
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
