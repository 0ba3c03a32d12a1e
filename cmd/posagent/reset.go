package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/term"

	"posagent/agent"
	"posagent/cmd/usage"
	"posagent/device"
	"posagent/store"
)

// resetWord is what a person types.
const resetWord = "reset"

type resetOptions struct {
	key, export, force, reason string
	yes, lost                  bool
}

func resetCommand() command {
	return command{
		name: "reset", destroys: true, short: "delete the journal and the box's key: the next start is the first one",
		long: "Needs the terminal stopped, and nothing pending in its journal. With --backup a sealed bundle is written first, and nothing is\n" +
			"deleted where that fails. A kill or a power cut leaves the old journal or none; after one, reset again. Configuration, token and\n" +
			"PIN of the local port and the books of an embedded backend stay. --force " + forceDamaged + " gives up a journal that cannot be read.\n" +
			"--lost-journal --reason TEXT is for a journal that is gone, or that no key opens any more. Receipt numbers go on behind all that were\n" +
			"given then; those of any other reset begin at 1. Compare the register's journal first.\n" +
			"A journal that is gone: nothing that was open in it is known any more. The key stays.\n" +
			"A journal whose key is lost or damaged: it is put aside whole, into a folder locked-TIME of the state directory. What is open in it\n" +
			"no terminal ends any more: settle that by hand, in the backend's portal. posagent restore FILE may follow. In a journal that begins\n" +
			"anew, writes with a client's Idempotency-Key are held until posagent ops release --all, and a till must not repeat an older request\n" +
			"under its old id.",
		json: []string{"posagent.reset/1"},
		examples: []string{
			"posagent reset --backup /media/usb/shop.bundle --key-file backup.key",
			"posagent reset --yes    # nobody is asked",
		},
		flags: func(fs *flag.FlagSet) any {
			o := &resetOptions{}
			keyFlag(fs, &o.key)
			fs.StringVar(&o.export, "backup", "", "write a sealed bundle to `file` first, as posagent backup does")
			usage.Old(fs, "export", "backup")
			fs.StringVar(&o.force, "force", "", "`word` for what is refused otherwise: "+forceDamaged)
			fs.BoolVar(&o.yes, "yes", false, "do not ask")
			fs.BoolVar(&o.lost, "lost-journal", false, "begin a new journal where the old one is gone or cut, or its key is lost")
			fs.StringVar(&o.reason, "reason", "", "with --lost-journal: `text`, who decided and why; it is kept in the audit log")
			return o
		},
		run: runReset,
	}
}

// resetView is what a reset came to (posagent.reset/1).
type resetView struct {
	Schema string      `json:"schema"`
	State  string      `json:"state"`            // directory
	Bundle *backupView `json:"bundle,omitempty"` // written before
	Kept   string      `json:"kept,omitempty"`   // directory of a journal that no key opens, with what was open in it
	Sales  int         `json:"sales,omitempty"`
	Ops    int         `json:"operations,omitempty"`
}

func runReset(ctx context.Context, c *call) error {
	o := c.opts.(*resetOptions)
	switch {
	case o.force != "" && o.force != forceDamaged:
		return fail(exitUsage, "%s: --force %q is not %s", c.path, o.force, forceDamaged)
	case o.export != "" && o.force == forceDamaged:
		return fail(exitUsage, "%s: a journal that cannot be read cannot be exported: leave out --backup or --force", c.path)
	}
	if o.lost {
		return resetLost(ctx, c, o)
	}
	if o.reason != "" {
		return fail(exitUsage, "%s: --reason goes with --lost-journal", c.path)
	}
	if _, err := os.Lstat(c.stateDir()); errors.Is(err, fs.ErrNotExist) {
		return storeError(err)
	}
	var secret []byte
	if o.export != "" {
		var err error
		if secret, err = bundleSecret(o.key); err != nil {
			return err
		}
	}
	why := ""
	if _, _, yes := ofSandbox(ctx, c); yes {
		why = store.OfSandbox
	}
	damaged, release, err := holdSettled(ctx, c, o.force == forceDamaged, false, "posagent reset")
	if err != nil {
		return err
	}
	defer release()
	if !o.yes {
		if err := confirm(c, resetWord, "the journal in "+c.stateDir()+" and the key of this box are deleted"); err != nil {
			return err
		}
	}
	v := resetView{Schema: "posagent.reset/1", State: c.stateDir()}
	if o.export != "" {
		b, err := writeBundle(ctx, c, o.export, secret)
		if err != nil {
			return err
		}
		v.Bundle = &b
	}
	only, err := oneAtATime(c)
	if err != nil {
		return err
	}
	defer only()
	for _, staged := range []string{".copy", ".restore"} { // of a verb that was killed
		if err := clearStaged(agentDB(c) + staged); err != nil {
			return fail(exitFailed, "%v", err)
		}
	}
	list, err := marks(c)
	if err != nil {
		return err
	}
	// The mark says what is coming, the journal goes before its key, and the mark says that it is done: a kill leaves the old journal,
	// or none that anything misses.
	if err := fileOf(c).ended(list, false, store.WasReset, why); err != nil {
		return storeError(err)
	}
	if err := fileOf(c).remove(ctx, damaged); err != nil {
		return storeError(err)
	}
	if err := device.Forget(keyDir(c)); err != nil {
		return fail(exitFailed, "%v (the journal is deleted; posagent reset again)", err)
	}
	for _, sealed := range []string{secretFile(c), besideFile(c)} { // nothing opens them any more
		if err := os.Remove(sealed); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail(exitFailed, "%v (the journal is deleted; posagent reset again)", err)
		}
	}
	if err := fileOf(c).ended(list, true, store.WasReset, why); err != nil {
		return storeError(err)
	}
	if c.json {
		return printJSON(c.out, v)
	}
	if v.Bundle != nil {
		fmt.Fprintf(c.out, "%s: %d KiB, generation %d of %s\n", v.Bundle.File, v.Bundle.Bytes>>10, v.Bundle.Bundle.Generation, v.Bundle.Bundle.Terminal)
	}
	fmt.Fprintf(c.out, "reset: %s\n", c.stateDir())
	return nil
}

// beginsAnew is the way of a box to another terminal's enrolment, away from a journal of which nothing is open. Only of a sandbox, which
// holds no money, it names the command that deletes it.
func beginsAnew(c *call, was string) string {
	if strings.HasPrefix(was, agent.Sandbox+" (") {
		stop := ""
		if pid, running, err := runningPID(c); err == nil && running {
			stop = cmp.Or(strings.Replace(c.packaged(), "start", "stop", 1), fmt.Sprintf("end process %d", pid)) + ", then "
		}
		return fmt.Sprintf("the sandbox holds no real money: %sposagent reset%s, then posagent enroll%s CODE --url URL again", stop, c.flags(), c.flags())
	}
	return fmt.Sprintf("posagent backup%s FILE --key-file K keeps its sales; posagent help reset tells how the box begins anew; then the same code again", c.flags())
}

// ofPlay says how a box on which a sandbox has sold goes on with a real backend.
func ofPlay(c *call, e *agent.OtherBackendError) error {
	return fail(exitRefused, "%w, and what the sandbox has approved is no real money (posagent backup%s FILE --key-file K keeps its journal; posagent reset%[2]s, then the same again)", e, c.flags())
}

// notSandbox refuses a code on a box whose journal is a sandbox's, before the operator's service hears of it. It returns nil where the
// journal says nothing else, or cannot be read.
func notSandbox(ctx context.Context, c *call) error {
	was, open, yes := ofSandbox(ctx, c)
	if !yes {
		return nil
	}
	next := beginsAnew(c, was)
	if open {
		next = "posagent status" + c.flags() + " until nothing is open, then again"
	}
	return fail(exitRefused, "a sandbox has run on this box, and its journal is not a terminal's; the code was not sent, and is good as before (%s)", next)
}

// ofSandbox reports whether the journal is a sandbox's, whose it is, and whether anything of it is open. A
// journal that cannot be read is none.
func ofSandbox(ctx context.Context, c *call) (was string, open, yes bool) {
	if _, err := os.Stat(agentDB(c)); err != nil {
		return "", false, false
	}
	err := readJournal(ctx, c, func(r store.Reader) (err error) {
		if was, err = agent.Bound(r); err == nil {
			open, err = unended(r)
		}
		return err
	})
	return was, open, err == nil && strings.HasPrefix(was, agent.Sandbox+" (")
}

// resetLost begins anew where the journal is gone or cut. The key stays: what was derived from it is known again.
func resetLost(ctx context.Context, c *call, o *resetOptions) error {
	if o.reason == "" {
		return fail(exitUsage, "%s: why? (--reason TEXT, it is kept in the audit log)", c.path)
	}
	release, err := fileOf(c).hold(ctx)
	if err != nil {
		return storeError(err)
	}
	defer release()
	list, err := marks(c)
	if err != nil {
		return err
	}
	if locked := lockedOut(ctx, c); locked != nil {
		return resetLocked(ctx, c, o, list, locked)
	}
	_, _, err = pendingIn(ctx, agentDB(c), list...)
	var cut *store.CutError
	switch {
	case err == nil:
		return fail(exitRefused, "the journal is there and whole: --lost-journal is for one that is gone (posagent status)")
	case errors.Is(err, fs.ErrNotExist):
		return storeError(err)
	case !errors.As(err, &cut):
		return storeError(err)
	}
	if !cut.Missing {
		sales, ops, err := pendingLeft(ctx, agentDB(c))
		if err == nil && sales+ops > 0 {
			return fail(exitRefused, "money is pending in what is left of the journal: %s (posagent journal accept --reason TEXT keeps it)", pendingText(sales, ops))
		}
	}
	if !o.yes {
		if err := confirm(c, resetWord, "what is left of the journal in "+c.stateDir()+" is deleted"); err != nil {
			return err
		}
	}
	err = fileOf(c).ended(list, false, store.WasLost, o.reason)
	if err == nil {
		err = fileOf(c).remove(ctx, true)
	}
	if err == nil {
		err = fileOf(c).ended(list, true, store.WasLost, o.reason)
	}
	if err != nil {
		return storeError(err)
	}
	if c.json {
		return printJSON(c.out, resetView{Schema: "posagent.reset/1", State: c.stateDir()})
	}
	fmt.Fprintf(c.out, "the next start begins a new journal in %s, after: %s\n", c.stateDir(), cut.Why)
	return nil
}

// confirm asks the person at a terminal for a word.
func confirm(c *call, word, what string) error {
	f, ok := c.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return fail(exitUsage, "%s: %s: --yes is wanted where nobody can be asked", c.path, what)
	}
	fmt.Fprintf(c.err, "%s. Type %s to go on: ", what, word)
	text, err := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(text) != word {
		return fail(exitFailed, "nothing was changed")
	}
	return nil
}
