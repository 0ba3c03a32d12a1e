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

// stage asks the program, built for this machine, for what it says of itself.
func stage(o options, tool, dir string) (staged, error) {
	s := staged{dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return s, err
	}
	quiet := []string{"POSAGENT_CONFIG=", "POSAGENT_STATE="}
	for name, verb := range map[string][]string{
		"posagent.1": {"man"}, "bash": {"completion", "bash"}, "zsh": {"completion", "zsh"}, "fish": {"completion", "fish"},
		"config.toml": {"config", "example"}, "CHANGELOG.md": {"version", "--changes"},
	} {
		text, err := command(dir, quiet, tool, verb...)
		if err != nil {
			return s, err
		}
		if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
			return s, err
		}
	}
	if _, err := command(dir, quiet, tool, "config", "check", "--config", s.path("config.toml")); err != nil {
		return s, fmt.Errorf("the example of a configuration: %w", err)
	}
	for _, name := range []string{"posagent.1", "CHANGELOG.md"} {
		if err := zip(s.path(name)); err != nil {
			return s, err
		}
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
