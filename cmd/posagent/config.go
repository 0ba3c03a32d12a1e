package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"posagent/agent/config"
	"posagent/agent/control"
	"posagent/device"
	"posagent/store"
)

// configPath is the file the caller named, or the default one where it exists, or "".
func configPath(c *call) string {
	if c.config == "" {
		if _, err := os.Stat(defaultConfig); err == nil {
			return defaultConfig
		}
	}
	return c.config
}

// loadConfig reads the file the caller named, or the default one where it exists, or the defaults alone.
func loadConfig(c *call) (config.Config, error) {
	cfg, err := config.Load(configPath(c), os.Environ())
	if err != nil {
		return cfg, &exit{exitConfig, err}
	}
	return cfg, nil
}

// agentDB is the terminal's database file.
func agentDB(c *call) string { return filepath.Join(c.stateDir(), "agent.db") }

// controlSocket is where the running terminal hears the command line.
func controlSocket(c *call) string { return filepath.Join(c.stateDir(), control.Name) }

// backendDir is where the embedded backend keeps its books.
func backendDir(c *call, cfg config.Config) string {
	if cfg.Backend.Data != "" {
		return cfg.Backend.Data
	}
	return filepath.Join(c.stateDir(), "backend")
}

// openKeys makes or opens the device key, and says what to do when it cannot.
func openKeys(c *call) (*device.Keys, error) {
	if err := stateDir(c); err != nil {
		return nil, err
	}
	load := device.OpenKeys
	if fi, err := os.Stat(agentDB(c)); err == nil && fi.Size() > 0 {
		load = device.LoadKeys // a new one would open nothing of the journal
	} else if lost := (*store.CutError)(nil); errors.As(lookAt(c), &lost) {
		return nil, cutError(lost)
	}
	keys, err := load(keyDir(c))
	return keys, keyError(c, err)
}

// stateDir makes the state directory, and refuses one that others may write.
func stateDir(c *call) error {
	if err := os.MkdirAll(c.stateDir(), 0o700); err != nil {
		return fail(exitFailed, "%v (make the directory, and let the user that runs posagent own it)", err)
	}
	return ownDir(c.stateDir(), os.Geteuid())
}

// lookAt answers what is wrong with the journal, by its mark alone where the journal is missing.
func lookAt(c *call) error {
	db, err := fileOf(c).readAsItIs(c.ctx, nil, false)
	if err != nil {
		return err
	}
	return db.Close()
}

// keyError gives an error of the device key its exit code and its remedy.
func keyError(c *call, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, device.ErrNoKey):
		return fail(exitDamaged, "the journal is there, but its key is missing: %s: %w (put the file back from where it was kept; the journal is whole, and opens with "+
			"no other key)", keyDir(c), err)
	case errors.Is(err, device.ErrKeyFile):
		return fail(exitDamaged, "%w (the file must be the key that was made here: mode 0600, owned by the user that runs posagent; the journal is whole)", err)
	}
	return storeError(err)
}

// storeError gives an error of the store its exit code and its remedy.
func storeError(err error) error {
	var cut *store.CutError
	var coded *exit
	var older *store.OlderError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.As(err, &coded), errors.Is(err, store.ErrNotCut):
		return err
	case errors.As(err, &cut):
		return cutError(cut)
	case errors.Is(err, store.ErrLocked):
		return fail(exitRefused, "%v (another posagent runs on this state directory; stop it first)", err)
	case errors.As(err, &older):
		return fail(exitFailed, "%v (free space in %s; posagent run brings the journal up to date and keeps all of it)", err, os.TempDir())
	case errors.Is(err, store.ErrNewer):
		return fail(exitRefused, "%v (a newer posagent wrote this journal: install that program; the journal is whole)", err)
	case errors.Is(err, store.ErrFull):
		return fail(exitFailed, "%v (free some space)", err)
	case errors.Is(err, device.ErrWrongKey):
		return fail(exitDamaged, "%v (the key file is not the one of this journal: put the right one back; the journal is whole)", err)
	case errors.Is(err, unix.EROFS), errors.Is(err, store.ErrReadOnly):
		return fail(exitFailed, "%v (the file system is read-only: dmesg | tail says why; mount -o remount,rw makes it writable again; the journal is whole)", err)
	case errors.Is(err, os.ErrPermission):
		return fail(exitFailed, "%v (run as the owner of the state directory; ls -l shows it)", err)
	case errors.Is(err, os.ErrNotExist):
		return fail(exitNoDaemon, "no terminal has run here yet: %v (posagent run starts one)", err)
	}
	return fail(exitDamaged, "%v (keep the state directory as it is, and call support)", err)
}

// cutError is the answer wherever the journal ends too early. Nothing was sent or undone for what may be missing.
func cutError(cut *store.CutError) error {
	if cut.Missing {
		return fail(exitDamaged, "%v: nothing was sent or undone (put the newest backup back: posagent restore FILE; where there is none, and the register's journal "+
			"was compared: posagent reset --lost-journal --reason TEXT)", cut)
	}
	return fail(exitDamaged, "%v: nothing was sent or undone for what may be missing (compare posagent sale list with the register's journal, then "+
		"posagent journal accept --reason TEXT; or put a newer backup back: posagent restore FILE)", cut)
}

// readAgent opens the terminal's database for reading, beside a running daemon or without one, whatever earlier program wrote it. Of
// one that is cut it reads what is left, and the verb ends with cutError.
func readAgent(c *call) (store.Journal, error) {
	var with store.Wrapper
	if keys, err := device.LoadKeys(keyDir(c)); err == nil { // rows are verified where the user may read the key
		with = keys
	}
	s, err := fileOf(c).read(c.ctx, with, false)
	if errors.Is(err, device.ErrWrongKey) {
		with = nil
		s, err = fileOf(c).read(c.ctx, nil, false)
	}
	if errors.As(err, &c.cut) && !c.cut.Missing {
		s, err = fileOf(c).read(c.ctx, with, true)
	}
	return s, storeError(err)
}

// readJournal reads once from the journal beside the terminal. Its errors have exit codes.
func readJournal(ctx context.Context, c *call, fn func(store.Reader) error) error {
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	return storeError(db.Read(ctx, fn))
}
