package main

import (
	"bytes"
	"errors"
	"fmt"
	goversion "go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// nfpm is the packer. It stays out of go.mod, where it would move the versions of the product's modules. Newer ones than 2.45.0 need
// modules that the Go proxy does not have.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0"

// options say what is made of what.
type options struct {
	root    string // of the tree
	out     string
	targets []target
	version string // what the program calls itself
	commit  string // "" = not known
	epoch   int64  // Unix seconds that stand in every file
	key     string // file of the signing key, "" = unsigned
	log     io.Writer
	made    map[string]string // binaries by target's name, in place of a build
}

// asked returns the options for a tree: version and time are those of its commit, or VERSION and SOURCE_DATE_EPOCH.
func asked(root, out string, targets []target) (options, error) {
	o := options{root: root, out: out, targets: targets, log: io.Discard}
	if err := current(root); err != nil {
		return o, err
	}
	said, err := command(root, nil, "sh", "cross/version.sh")
	if err != nil {
		return o, err
	}
	o.version = strings.TrimSpace(said)
	git := func(args ...string) string {
		text, err := command(root, nil, "git", args...)
		if err != nil {
			return "" // no version control here
		}
		return strings.TrimSpace(text)
	}
	o.commit = git("rev-parse", "HEAD")
	when := os.Getenv("SOURCE_DATE_EPOCH")
	if when == "" {
		when = git("show", "-s", "--format=%ct", "HEAD")
	}
	if o.version == "" || when == "" {
		return o, errors.New("this is no checkout: say VERSION=2026.11.23 and SOURCE_DATE_EPOCH=seconds")
	}
	if o.epoch, err = strconv.ParseInt(when, 10, 64); err != nil || o.epoch < 0 {
		return o, fmt.Errorf("SOURCE_DATE_EPOCH %q is no number of seconds", when)
	}
	if !regexp.MustCompile(`^[0-9][A-Za-z0-9.+~-]*$`).MatchString(o.version) {
		return o, fmt.Errorf("VERSION %q: a package's version begins with a digit, and has letters, digits and . + ~ - alone", o.version)
	}
	return o, nil
}

// current fails where the Go at hand is older than the toolchain that go.mod names: what is mended in it would not be in a release.
func current(root string) error {
	has, err := command(root, nil, goTool(), "env", "GOVERSION")
	if err != nil {
		return err
	}
	wants, err := command(root, nil, goTool(), "mod", "edit", "-print")
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`(?m)^toolchain (go\S+)$`).FindStringSubmatch(wants)
	if m == nil {
		return errors.New("go.mod names no toolchain: the newest patch release of its Go")
	}
	if has = strings.TrimSpace(has); goversion.Compare(has, m[1]) < 0 {
		return fmt.Errorf("this is %s, and go.mod names %s, in which more is mended: make releases with that one (GOTOOLCHAIN=%s)", has, m[1], m[1])
	}
	return nil
}

func epochOr0() int64 {
	n, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// flags are those of every build: nothing of the machine or the directory gets into the program.
func flags(version string) []string {
	return []string{"-trimpath", "-buildvcs=false", "-tags", "nethttpomithttp2", "-ldflags", "-s -w -buildid= -X main.linked=" + version}
}

// environment is that of every build of a target. GOFLAGS of the machine does not count.
func (t target) environment() []string {
	return []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + t.goarch, "GOARM=" + t.goarm, "GOAMD64=v1", "GO386=sse2", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT="}
}

// The programs that packages are made of.
const (
	terminal = "./cmd/posagent"
	updater  = "./cmd/posagent-update"
	backend  = "./cmd/posagent-backend"
)

// compile builds a program for a target into path.
func compile(o options, t target, program, path string, more ...string) error {
	args := slices.Concat([]string{"build", "-o", path}, flags(o.version), more, []string{program})
	_, err := command(o.root, t.environment(), goTool(), args...)
	return err
}

func goTool() string {
	if tool := os.Getenv("GO"); tool != "" {
		return tool
	}
	return "go"
}

// command runs a program in dir with more variables, and returns what it printed.
func command(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out.Bytes(), talk.Bytes())
	}
	return out.String(), nil
}

// here is the target of this machine.
func here() target {
	for _, t := range allTargets() {
		if t.goarch == runtime.GOARCH && (t.goarm == "" || t.goarm == "5") {
			return t
		}
	}
	return target{name: runtime.GOARCH, goarch: runtime.GOARCH}
}

// build makes everything into o.out. What an earlier version left there goes first.
func build(o options) error {
	work, err := os.MkdirTemp("", "packages")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if o.out, err = filepath.Abs(o.out); err != nil {
		return err
	}
	for _, pattern := range []string{"posagent*_*.deb", "posagent*_*.ipk", "posagent*_*.cdx.json", "release.json", "release.json.sig", "provenance.json"} {
		old, err := filepath.Glob(filepath.Join(o.out, pattern))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	binary := func(t target) (string, error) {
		if path := o.made[t.name]; path != "" {
			return path, nil
		}
		path := filepath.Join(work, "posagent-"+t.name)
		if _, err := os.Stat(path); err == nil {
			return path, nil // the one that was asked what it says of itself
		}
		return path, compile(o, t, terminal, path)
	}
	tool, err := binary(here())
	if err != nil {
		return err
	}
	updaterTool := filepath.Join(work, "posagent-update")
	if err := compile(o, here(), updater, updaterTool); err != nil {
		return err
	}
	serverTool := filepath.Join(work, "posagent-backend")
	if err := compile(o, here(), backend, serverTool); err != nil {
		return err
	}
	s, err := stage(map[string]string{"posagent": tool, "posagent-update": updaterTool, "posagent-backend": serverTool}, filepath.Join(work, "stage"))
	if err != nil {
		return err
	}
	var names []string
	for _, t := range o.targets {
		path, err := binary(t)
		if err != nil {
			return err
		}
		list, err := packageFor(o, s, t, path, filepath.Join(work, t.name))
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		more, err := packageUpdater(o, s, t, filepath.Join(work, t.name+"-update"))
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		list = append(list, more...)
		if t.server() {
			if more, err = packageServer(o, s, t, filepath.Join(work, t.name+"-backend")); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			list = append(list, more...)
		}
		for _, name := range list {
			info, err := os.Stat(filepath.Join(o.out, name))
			if err != nil {
				return err
			}
			fmt.Fprintf(o.log, "%9d bytes  %s\n", info.Size(), name)
		}
		names = append(names, list...)
	}
	if err := provenance(o, names); err != nil {
		return err
	}
	return release(o, append(names, "provenance.json"))
}
