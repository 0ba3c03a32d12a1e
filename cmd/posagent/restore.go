package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/outbox"
	"posagent/agent/records/audit"
	"posagent/device"
	"posagent/device/file"
	"posagent/store"
)

// Words of --force, beside forceDamaged: for a bundle that is another terminal's, for a journal that has more than the bundle, and for a
// bundle of a time when a service stood elsewhere. The refusals that they override name them.
const (
	forceTerminal = "other-terminal"
	forceOlder    = "older"
	forceAddress  = "other-address"
)

type restoreOptions struct {
	key, force string
}

// forced says that a word stands in --force.
func (o *restoreOptions) forced(word string) bool {
	return slices.Contains(strings.Split(o.force, ","), word)
}

// unknown is a word of --force that there is not; "" = none.
func (o *restoreOptions) unknown() string {
	for _, w := range strings.Split(o.force, ",") {
		if o.force != "" && !slices.Contains([]string{forceTerminal, forceOlder, forceDamaged, forceAddress}, w) {
			return w
		}
	}
	return ""
}

func restoreCommand() command {
	return command{
		name: "restore", args: "FILE", destroys: true, short: "put the journal of a backup back, on this box or on a new one",
		long: "Needs the terminal stopped, and nothing pending in the journal that is replaced. What was open in the backup may have ended since:\n" +
			"the next start holds all of it, sends nothing, and waits for a person (posagent status names each). Until the last moment the\n" +
			"old journal stays as it is; a power cut leaves the old one or the new one.\n" +
			"A journal that has sales, operations or decisions which the backup has not is kept: posagent backup keeps them first, then --force " + forceOlder + ".\n" +
			"One that no key opens is put aside first, where anything is open in it or the backup lacks anything: posagent help reset.\n" +
			"--force " + forceTerminal + " takes another terminal's backup; --force " + forceDamaged + " gives up a journal that cannot be read;\n" +
			"--force " + forceAddress + " takes one of a time when a service stood at another address or account: posagent help journal moved.\n" +
			"Several words are joined by commas.",
		json:     []string{"posagent.restore/1"},
		examples: []string{"posagent restore /media/usb/shop.bundle --key-file backup.key"},
		flags: func(fs *flag.FlagSet) any {
			o := &restoreOptions{}
			keyFlag(fs, &o.key)
			fs.StringVar(&o.force, "force", "", "`word` for what is refused otherwise: "+forceTerminal+", "+forceOlder+", "+forceAddress+" or "+forceDamaged)
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
	case o.unknown() != "":
		return fail(exitUsage, "%s: --force %q is neither %s nor %s nor %s nor %s", c.path, o.unknown(), forceTerminal, forceOlder, forceAddress, forceDamaged)
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	secret, err := bundleSecret(o.key)
	if err != nil {
		return err
	}
	in, _, err := file.Open(c.args[0], file.Follow)
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	defer in.Close()
	head, err := store.ReadBundleHead(in)
	if err != nil {
		return bundleError(c.args[0], err)
	}
	_, missing := os.Stat(agentDB(c))
	fresh := cfg.Sandbox() && errors.Is(missing, fs.ErrNotExist) // a box that is not enrolled yet: a sandbox does not start on this journal
	if mine := owner(cfg, cfg.Sandbox()); head.Terminal != "" && head.Terminal != mine && !o.forced(forceTerminal) && !fresh {
		return fail(exitRefused, "the backup is of %s, this terminal is %s (set [terminal] and [upstream] of that terminal, or --force %s)",
			head.Terminal, mine, forceTerminal)
	}
	if err := stateDir(c); err != nil {
		return err
	}
	locked := lockedOut(ctx, c)
	if _, err := device.LoadKeys(keyDir(c)); err != nil && !errors.Is(err, device.ErrNoKey) {
		return keyError(c, err)
	}
	if locked != nil {
		if sales, ops, err := pendingLeft(ctx, agentDB(c)); err == nil && sales+ops > 0 {
			return lockedError(c, pendingText(sales, ops), locked)
		}
	}
	damaged, release, err := holdSettled(ctx, c, o.forced(forceDamaged), true, "posagent restore")
	if err != nil {
		return err
	}
	defer release()
	only, err := oneAtATime(c)
	if err != nil {
		return err
	}
	defer only()
	staged := agentDB(c) + ".restore"
	if err := clearStaged(staged); err != nil {
		return fail(exitFailed, "%v", err)
	}
	defer func() { _ = clearStaged(staged) }()
	if err := spaceFor(staged, head.Bytes); err != nil {
		return err
	}
	key, err := head.Key(secret)
	if err == nil {
		err = unseal(ctx, c, in, key, staged)
	}
	if err != nil {
		return bundleError(c.args[0], err)
	}
	if !damaged && !o.forced(forceOlder) {
		if err := nothingAhead(ctx, c, staged, head, locked); err != nil {
			return err
		}
	}
	if !cfg.Sandbox() && !o.forced(forceAddress) {
		if err := sameAddresses(ctx, c, staged, cfg); err != nil {
			return err
		}
	}
	keys, err := device.OpenKeys(keyDir(c)) // a box whose key is lost gets a new one, now that nothing refuses the backup
	if err != nil {
		return keyError(c, err)
	}
	why := fmt.Sprintf("restored from the backup of %s, generation %d", head.Created, head.Generation)
	list, err := marks(c)
	if err != nil {
		return err
	}
	if err := journalFile(staged).stage(ctx, keys, list, key, why); err != nil {
		return bundleError(c.args[0], err)
	}
	if err := noteRestore(ctx, c, staged, keys, why, o.forced(forceTerminal)); err != nil {
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

// sameAddresses refuses a backup of a time when a service stood elsewhere: it holds nothing of what was sent since then, to either.
func sameAddresses(ctx context.Context, c *call, staged string, cfg config.Config) error {
	with, err := journalFile(staged).read(ctx, nil, true) // its mark is not made yet
	if err != nil {
		return bundleError(c.args[0], err)
	}
	defer with.Close()
	service, was, now := "", "", places(cfg, false)
	if err := with.Read(ctx, func(r store.Reader) (err error) { service, was, err = agent.Elsewhere(r, now); return err }); err != nil {
		return bundleError(c.args[0], err)
	}
	if service == "" {
		return nil
	}
	return fail(exitRefused, "when the backup was made, %s stood at %s; now it is %s, and the backup holds nothing of what was sent since (take a newer backup, or set [upstream] as it was then; "+
		"with --force %s the next start tells what a person has to decide)", service, was, now[service], forceAddress)
}

// nothingAhead refuses to replace a journal by one that has less.
func nothingAhead(ctx context.Context, c *call, staged string, head store.BundleHead, locked error) error {
	old, err := fileOf(c).readAsItIs(ctx, nil, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return storeError(err)
	}
	defer old.Close()
	with, err := journalFile(staged).read(ctx, nil, true) // its mark is not made yet
	if err != nil {
		return bundleError(c.args[0], err)
	}
	defer with.Close()
	var sales, ops, decided int
	err = old.Read(ctx, func(is store.Reader) error {
		return with.Read(ctx, func(was store.Reader) (err error) {
			if sales, err = journal.Beyond(is, was); err == nil {
				ops, err = outbox.Beyond(is, was)
			}
			if err == nil {
				decided, err = audit.Beyond(is, was)
			}
			return err
		})
	})
	if err != nil {
		return storeError(err)
	}
	if sales+ops > 0 && locked != nil {
		return lockedError(c, salesAndOps(sales, ops)+" that the backup has not", locked)
	}
	if sales+ops > 0 {
		return fail(exitRefused, "the journal here has %s that the backup of %s has not, and the restore would forget (posagent backup FILE%s keeps them; then --force %s)",
			salesAndOps(sales, ops), head.Created, c.flags(), forceOlder)
	}
	if decided > 0 { // the same sales and operations, and less of what became of them
		return fail(exitRefused, "the journal here has %d line(s) of the audit log that the backup of %s has not (how a sale ended, a closed day, a person's decision: posagent audit%s), "+
			"and the restore would forget them (posagent backup FILE%s keeps them; then --force %s)", decided, head.Created, c.flags(), c.flags(), forceOlder)
	}
	return nil
}

// lockedError refuses a restore over a journal that no key opens and that has more than the backup: the terminal cannot end it, and
// nothing may forget it.
func lockedError(c *call, has string, locked error) error {
	return fail(exitRefused, "the journal here has %s, and no key opens it: %w (put the right key file back; where there is none, posagent reset --lost-journal%s --reason TEXT "+
		"puts this journal aside and keeps it; then the same restore again)", has, locked, c.flags())
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
