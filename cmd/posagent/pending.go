package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/outbox"
	"posagent/schemes/money"
	"posagent/store"
)

// forceDamaged is the word of --force for a journal that cannot be read, so that it is unknown what is open in it. The refusal
// that it overrides names it.
const forceDamaged = "damaged"

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
	list, err := marks(c)
	if err != nil {
		return false, err
	}
	sales, ops, err := pendingIn(ctx, agentDB(c), list...)
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
		return false, pendingError(ctx, c, sales, ops)
	}
	return false, nil
}

// pendingView is what is open in the journal (posagent.pending/1).
type pendingView struct {
	Schema     string `json:"schema"`
	Sales      int    `json:"sales"`
	Operations int    `json:"operations"`
	Open       []open `json:"open"` // the oldest openShown of each
}

// open is a sale or an operation that is not at its end.
type open struct {
	What     string    `json:"what"` // "sale" or "operation"
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	State    string    `json:"state"`
	Amount   int64     `json:"amount"` // minor units
	Currency string    `json:"currency"`
	Since    time.Time `json:"since"` // when it was asked for
}

// openShown is how many sales, and how many operations, are named.
const openShown = 50

// journalPending counts what is open. It fails with exitRefused where that is anything, where a newer program wrote the journal, and where
// the state directory is not there though a link leads to it; with exitDamaged where the journal cannot be read. Where no terminal has run
// nothing is open.
func journalPending(ctx context.Context, c *call) error {
	if o := c.opts.(*pendingOptions); o.unit != "" {
		return pendingOfUnit(ctx, c, o.unit)
	}
	if err := leadsNowhere(c.stateDir(), agentDB(c)); err != nil {
		return err
	}
	sayAside(c)
	list, err := pendingMarks(c)
	if err != nil {
		return err
	}
	v := pendingView{Schema: "posagent.pending/1", Open: []open{}}
	db, err := fileOf(c).read(ctx, nil, false, list...)
	if err == nil {
		v.Sales, v.Operations, err = pendingOf(ctx, db, &v.Open)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storeError(err)
	}
	sales, ops := v.Sales, v.Operations
	if c.json {
		err = printJSON(c.out, v)
	} else if err = printOpen(c.out, v); sales+ops == 0 {
		_, err = fmt.Fprintln(c.out, "nothing is pending in "+c.stateDir())
	}
	if sales+ops > 0 {
		return pendingError(ctx, c, sales, ops)
	}
	return err
}

// pendingError refuses because money is open, and says how it ends.
func pendingError(ctx context.Context, c *call, sales, ops int) error {
	next := fmt.Sprintf("posagent run%s until posagent status shows nothing open, then again", c.flags())
	if locked := lockedOut(ctx, c); locked != nil {
		next = strings.TrimPrefix(locked.Error(), "device: ") + ": " + remedyOf(c.flags(), locked)
	}
	return fail(exitRefused, "money is pending here: %s (%s)", pendingText(sales, ops), next)
}

// asideName begins the names of the folders that a journal is put aside into.
const asideName = "locked-"

// sayAside names the journals that were put aside: nothing finishes what is open in them.
func sayAside(c *call) {
	list, err := filepath.Glob(filepath.Join(c.stateDir(), asideName+"*"))
	if err != nil {
		return
	}
	for _, dir := range list {
		fmt.Fprintf(c.err, "posagent: a journal that no key opened was put aside in %s: what is open in it is finished by hand; a purge is refused while it is there\n", dir)
	}
}

// leadsNowhere refuses a link to something that is not there: a medium that is away may hold the journal.
func leadsNowhere(paths ...string) error {
	for _, path := range paths {
		_, linked := os.Lstat(path)
		if _, err := os.Stat(path); linked == nil && err != nil {
			return fail(exitRefused, "%s leads to nothing that can be read: %v, so it is not known whether money is pending (mount what it leads to, or take the link away)", path, err)
		}
	}
	return nil
}

// pendingMarks are the marks that know where the journal ends. A configuration of which it is not known whether it names one elsewhere is
// refused where there is a journal, or anything that says that one was here.
func pendingMarks(c *call) ([]string, error) {
	cfg, err := readConfig(c)
	if err != nil && mayNameMark(err) {
		for _, path := range []string{agentDB(c), store.MarkPath(agentDB(c)), fileOf(c).outlived()} {
			if _, missing := os.Lstat(path); missing == nil {
				return nil, exitWith(exitConfig, err)
			}
		}
		return nil, nil
	}
	list := []string{store.MarkPath(agentDB(c))}
	if other := cfg.Store.Mark; other != "" {
		if _, missing := os.Stat(other); missing != nil {
			fmt.Fprintf(c.err, "posagent: the mark of [store] mark cannot be looked at: %v\n", missing)
		}
		list = append(list, other)
	}
	return list, nil
}

// mayNameMark says whether what is wrong with a configuration may hide a mark: it cannot be read, has an unknown name, or [store] is wrong.
func mayNameMark(err error) bool {
	return slices.ContainsFunc(config.Problems(err), func(p *config.KeyError) bool {
		return p.Key == "" || strings.HasPrefix(p.Key, "store.") || strings.HasPrefix(p.Err.Error(), "unknown ")
	})
}

// pendingIn counts what is open in the journal at path, compared with its marks.
func pendingIn(ctx context.Context, path string, marks ...string) (sales, ops int, err error) {
	db, err := journalFile(path).read(ctx, nil, false, marks...)
	if err != nil {
		return 0, 0, err
	}
	return pendingOf(ctx, db, nil)
}

// pendingLeft is pendingIn for what is left of a journal that is cut.
func pendingLeft(ctx context.Context, path string) (sales, ops int, err error) {
	db, err := journalFile(path).read(ctx, nil, true)
	if err != nil {
		return 0, 0, err
	}
	return pendingOf(ctx, db, nil)
}

// pendingOf counts what is open in a journal, names it where named is not nil, and closes the journal.
func pendingOf(ctx context.Context, db store.Journal, named *[]open) (sales, ops int, err error) {
	err = db.Read(ctx, func(r store.Reader) (err error) {
		if sales, err = journal.Unsettled(r); err == nil {
			ops, err = outbox.Unfinished(r)
		}
		if err == nil && named != nil && sales+ops > 0 {
			*named, err = openIn(r)
		}
		return err
	})
	return sales, ops, errors.Join(err, db.Close())
}

// openIn names what is open, sales first, the oldest first.
func openIn(r store.Reader) (list []open, err error) {
	sales, err := journal.Waiting(r, openShown)
	if err != nil {
		return nil, err
	}
	for _, s := range sales {
		list = append(list, open{"sale", string(s.Key), string(s.Kind), string(s.State.Phase), int64(s.Amount), s.Currency, time.UnixMilli(s.CreatedMS).UTC()})
	}
	ops, err := outbox.LookAll(r, outbox.Filter{Open: true, Limit: openShown})
	for _, o := range ops {
		list = append(list, open{"operation", string(o.Key), o.Kind, string(o.State), o.AmountMin, o.Currency, o.Created.UTC()})
	}
	return list, err
}

// printOpen says what is open, and since when, in the box's own time.
func printOpen(w io.Writer, v pendingView) (err error) {
	for _, o := range v.Open {
		amount := ""
		if o.Currency != "" {
			amount = fmt.Sprintf(" of %s %s", amountText(money.Minor(o.Amount), o.Currency), o.Currency)
		}
		if _, e := fmt.Fprintf(w, "%s %s: %s%s, %s since %s\n", o.What, o.ID, o.Kind, amount, o.State, o.Since.Local().Format("2006-01-02 15:04:05")); e != nil {
			err = e
		}
	}
	if more := v.Sales + v.Operations - len(v.Open); more > 0 && err == nil {
		_, err = fmt.Fprintf(w, "and %d more, which are younger (posagent sale list, posagent ops list --open)\n", more)
	}
	return err
}

// pendingText says how many sales and operations are open.
func pendingText(sales, ops int) string { return salesAndOps(sales, ops) + " not at their end" }

func salesAndOps(sales, ops int) string {
	var list []string
	if sales > 0 {
		list = append(list, fmt.Sprintf("%d sale(s)", sales))
	}
	if ops > 0 {
		list = append(list, fmt.Sprintf("%d operation(s)", ops))
	}
	return strings.Join(list, " and ")
}

// unended returns whether a sale or an operation of a journal is not at its end.
func unended(r store.Reader) (bool, error) {
	sales, err := journal.Unsettled(r)
	if err != nil || sales > 0 {
		return sales > 0, err
	}
	ops, err := outbox.Unfinished(r)
	return ops > 0, err
}
