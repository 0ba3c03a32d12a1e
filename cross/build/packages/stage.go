package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// staged are the files that are the same for every target, by their names in the folder.
type staged struct{ dir string }

func (s staged) path(name string) string { return filepath.Join(s.dir, name) }

// guides are what each program says of how it is called, by the names that the files have in the folder and in a package for Debian.
// OpenWrt has neither man nor completion.
func guides(program string) []struct {
	name, installed string
	verb            []string
} {
	return []struct {
		name, installed string
		verb            []string
	}{
		{program + ".1", "/usr/share/man/man1/" + program + ".1.gz", []string{"man"}},
		{program + ".bash", "/usr/share/bash-completion/completions/" + program, []string{"completion", "bash"}},
		{program + ".zsh", "/usr/share/zsh/vendor-completions/_" + strings.ReplaceAll(program, "-", "_"), []string{"completion", "zsh"}}, // the function's name
		{program + ".fish", "/usr/share/fish/vendor_completions.d/" + program + ".fish", []string{"completion", "fish"}},
	}
}

// quiet keeps the settings of the machine out of what a program prints.
var quiet = []string{"POSAGENT_CONFIG=", "POSAGENT_STATE="}

// ask lets a program, built for this machine, print a file of the folder.
func (s staged) ask(name, tool string, verb ...string) error {
	text, err := command(s.dir, quiet, tool, verb...)
	if err != nil {
		return err
	}
	return os.WriteFile(s.path(name), []byte(text), 0o644)
}

// stage asks the programs, built for this machine, for what they say of themselves.
func stage(tools map[string]string, dir string) (staged, error) {
	s := staged{dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return s, err
	}
	tool := tools["posagent"]
	for program, path := range tools {
		for _, g := range guides(program) {
			if err := s.ask(g.name, path, g.verb...); err != nil {
				return s, err
			}
		}
		if err := zip(s.path(program + ".1")); err != nil {
			return s, err
		}
	}
	for name, verb := range map[string][]string{"config.toml": {"config", "example"}, "CHANGELOG.md": {"version", "--changes"}, "visit.txt": {"visit"}} {
		if err := s.ask(name, tool, verb...); err != nil {
			return s, err
		}
	}
	if _, err := command(dir, quiet, tool, "config", "check", "--config", s.path("config.toml")); err != nil {
		return s, fmt.Errorf("the example of a configuration: %w", err)
	}
	if err := zip(s.path("CHANGELOG.md")); err != nil {
		return s, err
	}
	text, err := openAPI(tool, dir)
	if err != nil {
		return s, err
	}
	return s, os.WriteFile(s.path("openapi.json"), text, 0o644)
}

// zip writes the file at path again as path.gz, without a name and a time in it.
func zip(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	return os.WriteFile(path+".gz", b.Bytes(), 0o644)
}

// everyRoute is a sandbox on free ports whose local port serves all it can.
const everyRoute = `[port]
listen = "127.0.0.1:0"
[ecr]
tcp = "127.0.0.1:0"
[display]
console = false
[hooks]
authorization = "a-value-that-no-sender-shows"
[backend]
listen = "127.0.0.1:0"
`

// startWithin bounds the start of the sandbox.
const startWithin = 2 * time.Minute

// openAPI returns the document that the local port serves, with the address it has by default.
func openAPI(tool, dir string) ([]byte, error) {
	config := filepath.Join(dir, "sandbox.toml")
	if err := os.WriteFile(config, []byte(everyRoute), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(tool, "run", "--config", config, "--state", filepath.Join(dir, "sandbox"))
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET=", "WATCHDOG_USEC=")
	talk, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(startWithin, func() { _ = cmd.Process.Kill() })
	defer func() {
		late.Stop()
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_, _ = io.Copy(io.Discard, talk)
		_ = cmd.Wait()
	}()
	said := ""
	for lines := bufio.NewScanner(talk); lines.Scan(); {
		said += lines.Text() + "\n"
		for word := range strings.FieldsSeq(lines.Text()) {
			if at, ok := strings.CutPrefix(word, "port="); ok {
				return document(at)
			}
		}
	}
	return nil, fmt.Errorf("the sandbox did not start:\n%s", said)
}

// document fetches the description of the local port at an address.
func document(at string) ([]byte, error) {
	resp, err := (&http.Client{Timeout: startWithin}).Get(at + "/openapi.json")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(at))) {
		err = fmt.Errorf("%s/openapi.json: reply %d does not name its address", at, resp.StatusCode)
	}
	return bytes.ReplaceAll(text, []byte(at), []byte("http://127.0.0.1:8480")), err
}
