package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"posagent/agent/control"
	"posagent/agent/port/login"
	"posagent/agent/records/audit"
	"posagent/device/file"
)

func pinCommand() command {
	return command{
		name: "pin", short: "set the PIN by which a person logs in at the terminal's page",
		long: "It is asked for, or is the first line of the standard input: a PIN among the arguments would be in the shell's history. It has\n" +
			login.Rule + ".\n" +
			"What is stored is a slow hash of it, in port.pin of the state directory, for the terminal's own account. The running\n" +
			"terminal takes the new one at once: logins by the old one end, and wrong tries are forgotten. Without a PIN the page only shows.",
		json:     []string{"posagent.config.pin/1"},
		examples: []string{"posagent config pin", "posagent config pin < pin.txt    # where nobody can be asked"},
		run:      configPIN,
	}
}

// pinFile is what is stored of the PIN.
func pinFile(c *call) string { return filepath.Join(c.stateDir(), "port.pin") }

// pinView is a PIN that was set (posagent.config.pin/1).
type pinView struct {
	Schema string `json:"schema"`
	File   string `json:"file"`
}

func configPIN(ctx context.Context, c *call) error {
	by := os.Getuid()
	text, err := askPIN(ctx, c) // from what root alone may read, before it acts as another account
	if err != nil {
		return err
	}
	kept, err := login.Keep(text)
	if errors.Is(err, login.ErrPIN) {
		return fail(exitUsage, "%s: %v", c.path, err)
	} else if err != nil {
		return fail(exitFailed, "%v", err)
	}
	if err := asOwner(c.stateDir()); err != nil {
		return err
	}
	if err := stateDir(c); err != nil {
		return err
	}
	if err := file.Replace(pinFile(c), 0o600, file.Bytes([]byte(kept.Text()+"\n"))); err != nil {
		return wroteNot(pinFile(c), err)
	}
	if _, err := os.Lstat(agentDB(c)); err == nil { // before the first start there is no log
		noteDeed(ctx, c, audit.Deed{Deed: control.PIN, Detail: fmt.Sprintf("asked by uid %d", by)})
	}
	if c.json {
		return printJSON(c.out, pinView{"posagent.config.pin/1", pinFile(c)})
	}
	fmt.Fprintln(c.out, "the PIN is set: the terminal's page takes it")
	return nil
}

// maxPINLine is the longest line that is read for a PIN.
const maxPINLine = 256

// askPIN asks the person at a terminal twice, or reads one line.
func askPIN(ctx context.Context, c *call) (string, error) {
	f, ok := c.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(c.in, maxPINLine)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fail(exitFailed, "standard input: %v", err)
		}
		return strings.TrimSpace(line), nil
	}
	var typed [2]string
	for i, question := range []string{"New PIN (" + login.Rule + "): ", "Again: "} {
		fmt.Fprint(c.err, question)
		text, err := readUnseen(ctx, int(f.Fd()))
		fmt.Fprintln(c.err)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return "", fail(exitFailed, "no PIN was typed: %v", err)
		}
		typed[i] = strings.TrimSpace(text)
		if err := login.Fits(typed[i]); i == 0 && err != nil {
			return "", fail(exitUsage, "%s: %v", c.path, err)
		}
	}
	if typed[0] != typed[1] {
		return "", fail(exitUsage, "%s: the two are not the same: nothing was changed", c.path)
	}
	return typed[0], nil
}

// readUnseen reads a line that the terminal does not show. An interruption ends it, and lets the terminal show again what is typed.
func readUnseen(ctx context.Context, fd int) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		return string(l.text), l.err
	case <-ctx.Done():
		return "", term.Restore(fd, before)
	}
}
