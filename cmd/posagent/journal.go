package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent"
	"posagent/device"
	"posagent/store"
)

// marks are the files that remember where the journal ends: one beside it, and the one of [store] mark.
func marks(c *call) ([]string, error) {
	cfg, err := loadConfig(c)
	if err != nil {
		return nil, err
	}
	list := []string{store.MarkPath(agentDB(c))}
	if cfg.Store.Mark != "" {
		list = append(list, cfg.Store.Mark)
	}
	return list, nil
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

// beginGeneration holds what is open in a journal that was put back from an earlier time, or accepted after a cut.
func beginGeneration(ctx context.Context, db store.Journal, log *slog.Logger) error {
	old, err := agent.Recover(ctx, db, time.Now, device.BootTime, log)
	if err != nil {
		return err
	}
	if old.Why != "" {
		log.Warn("the journal was put back from an earlier time: what is open in it is held (posagent status)",
			"why", old.Why, "sales", old.Sales, "operations", old.Ops)
	}
	return nil
}

// checkAtOnce is the size of a journal that is checked before the terminal is ready: about a second on a small box.
const checkAtOnce = 16 << 20

// checkJournal looks for damaged pages before anything is told from them. Of a large journal it returns that check, to be run beside
// the terminal: its open rows are read, and verified, at the start all the same.
func checkJournal(ctx context.Context, db store.Journal) (rest func(context.Context) error, err error) {
	check := func(ctx context.Context) error {
		err := db.QuickCheck(ctx)
		if errors.Is(err, store.ErrDamaged) {
			return storeError(err)
		}
		return nil // a disk that fails is said by the writer
	}
	if db.Health(ctx).FileBytes > checkAtOnce {
		return check, nil
	}
	return func(context.Context) error { return nil }, check(ctx)
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

type acceptOptions struct{ reason string }

func journalCommand() command {
	return command{
		name: "journal", short: "what a person decides about a journal that was cut",
		long: "A journal is cut when it ends before what its mark has seen (agent.db.mark): a damaged log, an older copy put back, or no journal at\n" +
			"all. Nothing is sent or undone then. A backup that is newer than the cut is put back by posagent restore; without one, what is left\n" +
			"is taken by posagent journal accept; where nothing is left, posagent reset --lost-journal --reason TEXT begins anew.", examples: []string{"posagent journal accept --reason 'the card was swapped, the register was compared'"},
		sub: []command{{
			name: "accept", short: "go on with a journal that was cut, without what is missing in it",
			long: "Needs the terminal stopped. Compare the register's own journal with posagent sale list first: sales and operations that are missing\n" +
				"here may have been paid. What is open is held then for a person; a new batch begins, and receipt numbers go on behind all that were\n" +
				"given. The reason stands in the audit log. A backup that is newer than the cut is better: posagent restore.",
			examples: []string{"posagent journal accept --reason 'the card was swapped, the register was compared'"},
			flags: func(fs *flag.FlagSet) any {
				o := &acceptOptions{}
				fs.StringVar(&o.reason, "reason", "", "`text`: who decided, and why")
				return o
			},
			run: journalAccept,
		}},
	}
}

// acceptView is what an acceptance came to (posagent.accept/1).
type acceptView struct {
	Schema     string `json:"schema"`
	Why        string `json:"why"`
	Generation int64  `json:"generation"`
	Sales      int    `json:"sales"` // held
	Operations int    `json:"operations"`
}

func journalAccept(ctx context.Context, c *call) error {
	o := c.opts.(*acceptOptions)
	if o.reason == "" {
		return fail(exitUsage, "%s: why? (--reason TEXT, it is kept in the audit log)", c.path)
	}
	db, err := openStopped(asPerson(ctx), c, o.reason)
	if errors.Is(err, store.ErrNotCut) {
		return fail(exitRefused, "the journal is whole: there is nothing to accept")
	}
	if err != nil {
		return err
	}
	defer db.Close()
	old, err := agent.Recover(asPerson(ctx), db, time.Now, device.BootTime, logger(c))
	if err != nil {
		return storeError(err)
	}
	v := acceptView{Schema: "posagent.accept/1", Why: old.Why, Sales: old.Sales, Operations: old.Ops}
	if v.Generation, err = db.Generation(ctx); err != nil {
		return storeError(err)
	}
	if c.json {
		return printJSON(c.out, v)
	}
	fmt.Fprintf(c.out, "accepted: generation %d begins; %d sale(s) and %d operation(s) are held (posagent status)\n", v.Generation, v.Sales, v.Operations)
	return nil
}
