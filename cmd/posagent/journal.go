package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/sys/unix"

	"posagent/agent/ready"
	"posagent/device"
	"posagent/schemes/wire"
	"posagent/store"
)

// readAgent opens the terminal's database for reading, beside a running daemon or without one, whatever earlier program wrote it. Of
// one that is cut it reads what is left, and the verb ends with cutError.
func readAgent(c *call) (store.Journal, error) {
	var with store.Wrapper
	if keys, err := device.LoadKeys(keyDir(c)); err == nil { // rows are verified where the user may read the key
		with = keys
	}
	s, err := fileOf(c).read(c.ctx, with, false)
	if errors.Is(err, device.ErrWrongKey) {
		with, c.locked = nil, err
		s, err = fileOf(c).read(c.ctx, nil, false)
	}
	if errors.As(err, &c.cut) && !c.cut.Missing {
		s, err = fileOf(c).read(c.ctx, with, true)
	}
	return s, c.storeError(err)
}

// storeError is storeError of a verb that wants the journal: where there is none yet, it says what makes this box a terminal, as the first
// line of status does.
func (c *call) storeError(err error) error {
	var coded *exit
	if _, there := os.Lstat(agentDB(c)); !errors.Is(err, os.ErrNotExist) || !errors.Is(there, os.ErrNotExist) || errors.As(err, &coded) {
		return storeError(err)
	}
	next := "start it: " + c.start()
	switch cfg, bad := loadConfig(c); {
	case bad != nil:
		next = "posagent config check" + c.flags()
	case configPath(c) == "" && len(cfg.Origin()) == 0:
		next = ready.Say(ready.Trouble{Cause: ready.NoConfig}, placeOf(c)).Remedy
	case unenrolled(c, cfg):
		next = ready.Say(ready.Trouble{Cause: ready.Unenrolled}, placeOf(c)).Remedy
	}
	return fail(exitNoDaemon, "no terminal has run here yet: %s is not there (%s)", agentDB(c), next)
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

// notHere is the failure of a verb that names what the journal does not have: in a journal that took a lost one's place, what none says.
func notHere(ctx context.Context, db store.Journal, none func(r store.Reader) error, format string, args ...any) error {
	if e := wire.AsError("", db.Read(ctx, none)); e.Code == wire.UnknownOutcome {
		return fail(exitFailed, "%s", e.Msg)
	}
	return fail(exitFailed, format, args...)
}

// mayUse says which file of the journal this user may not write, and why: the database's own words for it are those of damage.
func mayUse(c *call) error {
	db := agentDB(c)
	for _, path := range []string{c.stateDir(), db, db + "-wal", db + "-shm", store.MarkPath(db)} {
		err := unix.Access(path, unix.R_OK|unix.W_OK)
		if err == nil || errors.Is(err, unix.ENOENT) {
			continue
		}
		owner := ""
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil && int(st.Uid) != os.Geteuid() {
			owner = fmt.Sprintf(" (it belongs to user %d, this is user %d)", st.Uid, os.Geteuid())
		}
		return storeError(fmt.Errorf("%s%s: %w", path, owner, err))
	}
	return nil
}

// openJournal opens the terminal's journal for writing. accept, a reason, takes one that was cut as it is.
func openJournal(ctx context.Context, c *call, keys *device.Keys, log *slog.Logger, accept string) (store.Journal, error) {
	list, err := marks(c)
	if err != nil {
		return nil, err
	}
	if err := mayUse(c); err != nil {
		return nil, err
	}
	db, err := fileOf(c).open(ctx, journalOptions{Wrapper: keys, Log: log, Marks: list, Accept: accept})
	return db, storeError(err)
}

// openStopped opens the journal of a stopped terminal with the box's key; accept as in openJournal.
func openStopped(ctx context.Context, c *call, accept string) (store.Journal, error) {
	keys, err := journalKeys(c)
	if err != nil {
		return nil, err
	}
	return openJournal(ctx, c, keys, logger(c), accept)
}
