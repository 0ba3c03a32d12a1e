package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"posagent/agent/doctor/exam"
	"posagent/agent/support/bundle"
)

type supportOptions struct {
	out   string
	noLog bool
}

func supportCommand() command {
	return command{
		name: "support", short: "what a help desk needs to know, in one file without secrets",
		examples: []string{
			"posagent support bundle --config /etc/posagent/config.toml", "posagent support bundle --out /media/stick/box.tar.gz",
			"posagent support record 60s     # while you reproduce the fault",
		},
		sub: []command{{
			name: "bundle", short: "pack what this terminal says of itself, and print a short marker for the telephone",
			long: "It holds what the verbs print with --json (" + strings.Join(packedNames(), ", ") + "),\n" +
				"facts of the box, and the program's log of a day. MANIFEST.json names each part with its SHA-256. Secrets of the configuration and\n" +
				"card numbers are masked; there is no payload of an operation and no card data in it. It works with and without the running terminal.\n" +
				"Without --out it lies in the state directory's folder support, where the newest five stay, or, for root and others, and where no\n" +
				"terminal has run, in " + os.TempDir() + ".",
			json:     []string{"posagent.support/1"},
			examples: []string{"posagent support bundle --config /etc/posagent/config.toml", "posagent support bundle --out /media/stick/box.tar.gz --no-log", "posagent support bundle --json"},
			flags: func(fs *flag.FlagSet) any {
				o := &supportOptions{}
				fs.StringVar(&o.out, "out", "", "write this `file` instead")
				fs.BoolVar(&o.noLog, "no-log", false, "leave the log out")
				return o
			},
			run: supportBundle,
		}, recordCommand()},
	}
}

// packed are the verbs whose output is packed, each with its part's name. Each reads only.
func packed() []struct {
	file string
	verb []string
} {
	return []struct {
		file string
		verb []string
	}{
		{"version.json", []string{"version"}}, {"config.json", []string{"config", "show"}}, {"config-check.json", []string{"config", "check"}},
		{"status.json", []string{"status"}}, {"doctor.json", []string{"doctor"}}, {"net.json", []string{"net", "check"}},
		{"methods.json", []string{"methods"}}, {"operations.json", []string{"ops", "list", "--limit", "200"}}, {"report.json", []string{"ops", "report"}},
		{"sales.json", []string{"sale", "list", "--limit", "100"}}, {"audit-check.json", []string{"audit", "--check"}}, {"history.jsonl", []string{"history"}},
	}
}

func packedNames() (list []string) {
	for _, p := range packed() {
		list = append(list, strings.Join(p.verb, " "))
	}
	return list
}

// boxFiles are the kernel's and the system's files that are packed.
func boxFiles() []string {
	return []string{"/etc/os-release", "/proc/version", "/proc/uptime", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/net/route", "/proc/tty/drivers"}
}

func supportBundle(ctx context.Context, c *call) error {
	o := c.opts.(*supportOptions)
	if len(c.args) > 0 {
		return fail(exitUsage, "support bundle: no argument %q (--out FILE)", c.args[0])
	}
	secrets, err := supportSecrets(c)
	if err != nil && !o.noLog {
		fmt.Fprintln(c.err, "the configuration cannot be read, so its secrets are not known: the log is left out")
	}
	parts := supportVerbs(ctx, c)
	parts = append(parts, supportBox(c)...)
	if !o.noLog && err == nil {
		parts = append(parts, supportLog(ctx, "-24h"))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var archive bytes.Buffer
	m, err := bundle.Write(&archive, time.Now(), version, secrets, parts)
	if err != nil {
		return fail(exitFailed, "support bundle: %v", err)
	}
	path, err := keepBundle(c, o.out, m.Marker, archive.Bytes())
	if err != nil {
		return fail(exitFailed, "support bundle: %v (--out FILE writes it elsewhere)", err)
	}
	if c.json {
		return printJSON(c.out, struct {
			bundle.Manifest
			File string `json:"file"`
		}{m, path})
	}
	fmt.Fprintf(c.out, "%s\n%s: %d files, %d KiB\n", m.Marker, path, len(m.Files)+1, archive.Len()>>10+1)
	fmt.Fprintln(c.out, "look inside: tar -tzf", path)
	return nil
}

// supportSecrets are the secrets that are masked: those of the configuration, as far as it can be read, and the local port's token.
func supportSecrets(c *call) (list []string, err error) {
	cfg, err := readConfig(c)
	list = cfg.Secrets()
	if token, err := readOwn(filepath.Join(c.stateDir(), "port.token"), maxToken); err == nil {
		list = append(list, strings.TrimSpace(string(token)))
	}
	return list, err
}

// supportVerbs runs the verbs, and adds the findings of doctor as a part of their own.
func supportVerbs(ctx context.Context, c *call) (parts []bundle.Part) {
	for _, p := range packed() {
		part := verbPart(ctx, c, p.file, p.verb)
		parts = append(parts, part)
		if p.file == "doctor.json" {
			parts = append(parts, findings(part.Data))
		}
	}
	return parts
}

// verbWithin bounds a verb of a bundle. What it looks at may be another account's, and may never answer.
const verbWithin = time.Minute

// verbPart runs a verb with --json for a file of the archive.
func verbPart(ctx context.Context, c *call, file string, verb []string) bundle.Part {
	how := "posagent " + strings.Join(verb, " ") + c.global.flags() + " --json"
	fmt.Fprintln(c.err, how)
	args := slices.Clone(verb)
	for flag, value := range map[string]string{"--config": c.config, "--state": c.state} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	type result struct {
		data []byte
		err  error
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan result, 1)
	go func() {
		var said, talk bytes.Buffer
		err := dispatch(ctx, append(args, "--json"), std{strings.NewReader(""), &said, &talk})
		ended <- result{said.Bytes(), err}
	}()
	late := time.NewTimer(verbWithin)
	defer late.Stop()
	part := bundle.Part{Name: file, How: how}
	select {
	case r := <-ended:
		if part.Data = r.data; r.err != nil {
			code := exitFailed
			if e := (*exit)(nil); errors.As(r.err, &e) {
				code = e.Code
			}
			part.Err = strings.TrimSpace(fmt.Sprintf("exit %d %s", code, r.err))
		}
	case <-late.C:
		part.Err = fmt.Sprintf("no end in %s", verbWithin)
		stop()
		select { // what it has copied it puts away
		case <-ended:
		case <-time.After(readEnds):
		}
	}
	return part
}

// findings are the checks of doctor that failed or warn.
func findings(examined []byte) bundle.Part {
	var v struct {
		Schema string        `json:"schema"`
		Checks []exam.Result `json:"checks"`
	}
	part := bundle.Part{Name: "findings.json", How: "what doctor.json has that is not well"}
	if err := json.Unmarshal(examined, &v); err != nil {
		part.Err = err.Error()
		return part
	}
	v.Schema = "posagent.support.findings/1"
	v.Checks = slices.DeleteFunc(v.Checks, func(r exam.Result) bool { return r.Status != exam.Fail && r.Status != exam.Warn })
	var out bytes.Buffer
	if err := printJSON(&out, v); err != nil {
		part.Err = err.Error()
	}
	part.Data = out.Bytes()
	return part
}

// supportBox is about the box: the system's own files, and the names, sizes and modes in the state directory.
func supportBox(c *call) (parts []bundle.Part) {
	for _, path := range boxFiles() {
		data, err := os.ReadFile(path)
		part := bundle.Part{Name: "box/" + strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "-"), How: path, Data: data}
		if err != nil {
			part.Err = err.Error()
		}
		parts = append(parts, part)
	}
	var list bytes.Buffer
	fmt.Fprintf(&list, "%s/%s, %d processors\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, dir := range []string{c.stateDir(), keyDir(c), "/dev/serial/by-id"} {
		fmt.Fprintln(&list, dir)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Fprintf(&list, "  %s %10d %s %s\n", info.Mode(), info.Size(), info.ModTime().UTC().Format(time.RFC3339), shown(strings.TrimPrefix(path, dir)))
			return nil
		})
		if err != nil {
			fmt.Fprintf(&list, "  %v\n", err)
		}
	}
	return append(parts, bundle.Part{Name: "box/files.txt", How: "names, sizes, modes and times; no contents", Data: list.Bytes()})
}

// supportLog is what the program has logged since a time, as far as the system's journal has it.
func supportLog(ctx context.Context, since string) bundle.Part {
	part := bundle.Part{Name: "log.txt", How: "journalctl -u posagent --since " + since + " -n 5000 -o short-iso --no-pager"}
	args := strings.Fields(part.How)
	path, err := exec.LookPath(args[0])
	if err != nil {
		part.Err = err.Error()
		return part
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if part.Data, err = exec.CommandContext(ctx, path, args[1:]...).Output(); err != nil {
		part.Err = err.Error()
	}
	return part
}

// bundlesKept is how many stay in the state directory.
const bundlesKept = 5

// keepBundle writes the archive where it is wanted, and removes the oldest of those in the state directory.
func keepBundle(c *call, out, marker string, data []byte) (path string, err error) {
	if out != "" {
		return out, writeNew(out, data)
	}
	_, missing := os.Stat(c.stateDir())
	if missing != nil || mayUse(c) != nil || ownerOf(c.stateDir()) != os.Geteuid() { // root leaves nothing with others, and makes nothing for them
		path = filepath.Join(os.TempDir(), marker+".tar.gz")
		return path, writeNew(path, data)
	}
	dir := filepath.Join(c.stateDir(), "support")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, marker+".tar.gz")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", err
	}
	old, err := filepath.Glob(filepath.Join(dir, "PA-*.tar.gz"))
	if err != nil {
		return path, err
	}
	age := func(path string) time.Time {
		info, err := os.Stat(path)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(old, func(a, b string) int { return age(b).Compare(age(a)) })
	for _, path := range old[min(len(old), bundlesKept):] {
		if err := os.Remove(path); err != nil {
			return path, err
		}
	}
	return path, nil
}

// writeNew writes a file that is not there yet, for its owner alone.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
