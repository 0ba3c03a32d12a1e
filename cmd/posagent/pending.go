package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/outbox"
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
		return false, fail(exitRefused, "money is pending here: %s (posagent run%s until posagent status shows nothing open, then again)", pendingText(sales, ops), c.flags())
	}
	return false, nil
}

// pendingView is what is open in the journal (posagent.pending/1).
type pendingView struct {
	Schema     string `json:"schema"`
	Sales      int    `json:"sales"`
	Operations int    `json:"operations"`
}

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
	list, err := pendingMarks(c)
	if err != nil {
		return err
	}
	sales, ops, err := pendingIn(ctx, agentDB(c), list...)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storeError(err)
	}
	if c.json {
		err = printJSON(c.out, pendingView{"posagent.pending/1", sales, ops})
	} else if sales+ops == 0 {
		_, err = fmt.Fprintln(c.out, "nothing is pending in "+c.stateDir())
	} else {
		err = nil
	}
	if sales+ops > 0 {
		return fail(exitRefused, "money is pending here: %s (posagent run%s until posagent status shows nothing open, then again)", pendingText(sales, ops), c.flags())
	}
	return err
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
// refused where there is a journal or a mark at all.
func pendingMarks(c *call) ([]string, error) {
	cfg, err := readConfig(c)
	if err != nil && mayNameMark(err) {
		for _, path := range []string{agentDB(c), store.MarkPath(agentDB(c))} {
			if _, missing := os.Lstat(path); missing == nil {
				return nil, &exit{exitConfig, err}
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

// pendingOf counts what is open in a journal, and closes it.
func pendingOf(ctx context.Context, db store.Journal) (sales, ops int, err error) {
	err = db.Read(ctx, func(r store.Reader) (err error) {
		if sales, err = journal.Unsettled(r); err == nil {
			ops, err = outbox.Unfinished(r)
		}
		return err
	})
	return sales, ops, errors.Join(err, db.Close())
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
