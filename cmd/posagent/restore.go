package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"posagent/agent"
	"posagent/agent/audit"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/device"
	"posagent/store"
)

// The words of --force. Each is one danger, named in the refusal it overrides.
const (
	forceTerminal = "other-terminal" // the bundle is another terminal's
	forceDamaged  = "damaged"        // the journal here cannot be read, so it is unknown what is open in it
)

type restoreOptions struct{ key, force string }

func restoreCommand() command {
	return command{
		name: "restore", args: "FILE", short: "put the journal of a backup back, on this box or on a new one",
		long: "Needs the terminal stopped, and nothing pending in the journal that is replaced. What was open in the backup may have ended since:\n" +
			"the next start holds all of it, sends nothing, and waits for a person (posagent status names each). Until the last moment the\n" +
			"old journal stays as it is; a power cut leaves the old one or the new one.\n" +
			"--force " + forceTerminal + " takes another terminal's backup; --force " + forceDamaged + " gives up a journal that cannot be read.",
		examples: []string{"posagent restore /media/usb/shop.bundle --key-file backup.key"},
		flags: func(fs *flag.FlagSet) any {
			o := &restoreOptions{}
			keyFlag(fs, &o.key)
			fs.StringVar(&o.force, "force", "", "`word` for what is refused otherwise: "+forceTerminal+" or "+forceDamaged)
			return o
		},
		run: runRestore,
	}
}

func runRestore(ctx context.Context, c *call) error {
	o := c.opts.(*restoreOptions)
	switch {
	case len(c.args) != 1:
		return fail(exitUsage, "%s: which file? (posagent restore FILE)", c.path)
	case o.force != "" && o.force != forceTerminal && o.force != forceDamaged:
		return fail(exitUsage, "%s: --force %q is neither %s nor %s", c.path, o.force, forceTerminal, forceDamaged)
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	secret, err := bundleSecret(o.key)
	if err != nil {
		return err
	}
	in, err := os.Open(c.args[0])
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	defer in.Close()
	head, err := store.ReadBundleHead(in)
	if err != nil {
		return bundleError(c.args[0], err)
	}
	if mine := owner(cfg, cfg.Sandbox()); head.Terminal != "" && head.Terminal != mine && o.force != forceTerminal {
		return fail(exitRefused, "the backup is of %s, this terminal is %s (set [terminal] and [upstream] of that terminal, or --force %s)",
			head.Terminal, mine, forceTerminal)
	}
	if err := stateDir(c); err != nil {
		return err
	}
	keys, err := device.OpenKeys(keyDir(c)) // a box whose key is lost gets a new one with the journal
	if err != nil {
		return keyError(c, err)
	}
	damaged, release, err := holdSettled(ctx, c, o.force == forceDamaged, true, "posagent restore")
	if err != nil {
		return err
	}
	defer release()
	staged := agentDB(c) + ".restore"
	if err := clearStaged(staged); err != nil {
		return fail(exitFailed, "%v", err)
	}
	defer func() { _ = clearStaged(staged) }()
	key, err := head.Key(secret)
	if err == nil {
		err = unseal(ctx, c, in, key, staged)
	}
	if err != nil {
		return bundleError(c.args[0], err)
	}
	why := fmt.Sprintf("restored from the backup of %s, generation %d", head.Created, head.Generation)
	list, err := marks(c)
	if err != nil {
		return err
	}
	if err := journalFile(staged).stage(ctx, keys, list, key, why); err != nil {
		return bundleError(c.args[0], err)
	}
	if err := noteRestore(ctx, c, staged, keys, why, o.force == forceTerminal); err != nil {
		return storeError(err)
	}
	sales, ops, err := pendingIn(ctx, staged)
	if err != nil {
		return storeError(err)
	}
	if err := fileOf(c).replace(ctx, journalFile(staged), damaged); err != nil {
		return storeError(err)
	}
	if c.json {
		return printJSON(c.out, restoreView{"posagent.restore/1", head, sales, ops})
	}
	fmt.Fprintf(c.out, "restored: the journal of %s, generation %d, made %s\n", head.Terminal, head.Generation, head.Created)
	if sales+ops > 0 {
		fmt.Fprintf(c.out, "%d sale(s) and %d operation(s) were open then; the next start holds them (posagent status)\n", sales, ops)
	}
	return nil
}

// noteRestore writes the first line behind a restore: what was put back, and which journal it replaces.
func noteRestore(ctx context.Context, c *call, staged string, keys *device.Keys, why string, rebind bool) error {
	replaced := "no journal"
	if old, err := fileOf(c).readAsItIs(ctx, nil, false); err == nil {
		if n, err := old.Generation(ctx); err == nil {
			replaced = fmt.Sprintf("generation %d", n)
		}
		_ = old.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		replaced = "a journal that cannot be read"
	}
	db, err := journalFile(staged).open(ctx, journalOptions{Wrapper: keys, Ballast: -1, Log: logger(c)})
	if err != nil {
		return err
	}
	err = db.Write(asPerson(ctx), func(tx store.Tx) error {
		if rebind {
			if err := agent.Unbind(tx); err != nil {
				return err
			}
		}
		return audit.Append(tx, time.Now(), audit.Deed{Deed: agent.DeedRestore, Detail: why + "; it replaces " + replaced})
	})
	return errors.Join(err, db.Close())
}

// restoreView is what a restore came to (posagent.restore/1).
type restoreView struct {
	Schema string           `json:"schema"`
	Bundle store.BundleHead `json:"bundle"`
	Sales  int              `json:"sales"` // open in it
	Ops    int              `json:"operations"`
}

func unseal(ctx context.Context, c *call, in *os.File, key *store.BundleKey, to string) error {
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	say := progress(c)
	err = store.OpenBundle(ctx, key, in, out, func(done, of int64) { say("unsealed", done, of) })
	return errors.Join(err, out.Close())
}

// bundleError gives an error of a bundle its exit code and its remedy.
func bundleError(file string, err error) error {
	switch {
	case errors.Is(err, store.ErrBundleKey):
		return fail(exitAuth, "%s: %v (give the one it was made with: --key-file FILE)", file, err)
	case errors.Is(err, store.ErrBundleNewer), errors.Is(err, store.ErrNewer):
		return fail(exitRefused, "%s: %v (install that program first)", file, err)
	case errors.Is(err, store.ErrBundle):
		return fail(exitDamaged, "%s: %v (take another copy of it)", file, err)
	}
	return storeError(err)
}

// holdSettled takes the journal for itself until release, if nothing is pending in it (nothingPending).
func holdSettled(ctx context.Context, c *call, mayBeDamaged, mayBeCut bool, verb string) (damaged bool, release func() error, err error) {
	release, err = fileOf(c).hold(ctx)
	if err != nil {
		return false, nil, storeError(err)
	}
	if damaged, err = nothingPending(ctx, c, mayBeDamaged, mayBeCut, verb); err != nil {
		_ = release() // the refusal is the answer
		return false, nil, err
	}
	return damaged, release, nil
}

// nothingPending refuses to give a journal up in which money is open. damaged: it cannot be read, and the caller has said that it
// may go.
//
// mayBeCut: of a journal that is cut only what is left counts, because the caller takes the place of what is missing.
func nothingPending(ctx context.Context, c *call, mayBeDamaged, mayBeCut bool, verb string) (damaged bool, err error) {
	sales, ops, err := pendingIn(ctx, agentDB(c))
	if cut := (*store.CutError)(nil); errors.As(err, &cut) && mayBeCut {
		if cut.Missing {
			return true, nil
		}
		sales, ops, err = pendingLeft(ctx, agentDB(c))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil && mayBeDamaged:
		return true, nil
	case errors.Is(err, store.ErrCut):
		return false, storeError(err)
	case err != nil:
		return false, fail(exitDamaged, "the journal here cannot be read, so what is open in it is not known: %v (keep a copy of %s for support; %s --force %s gives it up)",
			err, c.stateDir(), verb, forceDamaged)
	case sales > 0 || ops > 0:
		return false, fail(exitRefused, "money is pending here: %s (posagent run%s until posagent status shows nothing open, then again)", pendingText(sales, ops), c.flags())
	}
	return false, nil
}

func pendingText(sales, ops int) string {
	var list []string
	if sales > 0 {
		list = append(list, fmt.Sprintf("%d sale(s)", sales))
	}
	if ops > 0 {
		list = append(list, fmt.Sprintf("%d operation(s)", ops))
	}
	return strings.Join(list, " and ") + " not at their end"
}

// pendingIn counts what is open in the journal at path.
func pendingIn(ctx context.Context, path string) (sales, ops int, err error) {
	db, err := journalFile(path).read(ctx, nil, false)
	if err != nil {
		return 0, 0, err
	}
	return pendingOf(ctx, db)
}

// pendingLeft is pendingIn for what is left of a journal that is cut.
func pendingLeft(ctx context.Context, path string) (sales, ops int, err error) {
	db, err := journalFile(path).read(ctx, nil, true)
	if err != nil {
		return 0, 0, err
	}
	return pendingOf(ctx, db)
}

func pendingOf(ctx context.Context, db store.Journal) (sales, ops int, err error) {
	err = db.Read(ctx, func(r store.Reader) (err error) {
		if sales, err = journal.Unsettled(r); err == nil {
			ops, err = outbox.Unfinished(r)
		}
		return err
	})
	return sales, ops, errors.Join(err, db.Close())
}
