package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"posagent/agent/records/audit"
	"posagent/cmd/usage"
	"posagent/schemes/money"
	"posagent/store"
)

type auditOptions struct {
	check bool
	limit int64
}

func auditCommand() command {
	return command{
		name: "audit", short: "who did what: every deed that moved money, with its actor",
		long: "Reads the journal beside the terminal, or without it; oldest line first. With --json each line is one object.\n" +
			"--verify verifies that no line was removed or changed, names those that were, and exits 9 then. It needs the box's key, so it\n" +
			"is for the terminal's own account or root. It is evidence against edits of the file, not against root.",
		json:     []string{"posagent.audit/1", "posagent.audit.check/1"},
		examples: []string{"posagent audit --limit 20", "posagent audit --verify", "posagent audit --json | grep sale.undo"},
		flags: func(fs *flag.FlagSet) any {
			o := &auditOptions{}
			fs.BoolVar(&o.check, "verify", false, "verify the lines instead of printing them")
			usage.Old(fs, "check", "verify")
			fs.Int64Var(&o.limit, "limit", 0, "only the newest `number` of lines, 0 = all")
			return o
		},
		run: runAudit,
	}
}

func runAudit(ctx context.Context, c *call) error {
	o := c.opts.(*auditOptions)
	if o.limit < 0 {
		return fail(exitUsage, "%s: --limit %d: 0 = all, or how many of the newest lines", c.path, o.limit)
	}
	if o.check {
		return checkAudit(ctx, c)
	}
	if _, err := os.Stat(agentDB(c)); err != nil {
		return storeError(err)
	}
	db, err := fileOf(c).readAsItIs(ctx, nil, true) // of a cut journal it tells most
	if err != nil {
		return storeError(err)
	}
	defer db.Close()
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	for after, first := int64(0), true; ; first = false {
		var list []audit.Line
		err := db.Read(ctx, func(r store.Reader) (err error) {
			if first && o.limit > 0 {
				if after, err = audit.Behind(r, o.limit); err != nil {
					return err
				}
			}
			list, err = audit.Page(r, after)
			return err
		})
		if err != nil {
			return storeError(err)
		}
		if len(list) == 0 {
			return nil
		}
		for _, l := range list {
			after = l.ID
			if !c.json {
				printLine(c, l)
			} else if err := enc.Encode(l); err != nil {
				return err
			}
		}
	}
}

func printLine(c *call, l audit.Line) {
	who := string(l.Kind)
	for _, s := range []string{l.Name, l.Address} {
		if s != "" {
			who += " " + s
		}
	}
	amount := ""
	if l.Currency != "" {
		amount = " " + amountText(money.Minor(l.Amount), l.Currency) + " " + l.Currency
	}
	text := ""
	for _, s := range []string{l.Subject, l.Detail} {
		if s != "" {
			text += "  " + s
		}
	}
	fmt.Fprintf(c.out, "%6d  %s  %-32s %s%s%s\n", l.ID, l.Time().Local().Format("2006-01-02 15:04:05"), who, l.Deed.Deed, amount, text)
}

// checkedView is what a check came to (posagent.audit.check/1).
type checkedView struct {
	Schema string `json:"schema"`
	OK     bool   `json:"ok"`
	audit.Report
}

func checkAudit(ctx context.Context, c *call) error {
	keys, err := journalKeys(c)
	if err != nil {
		return err
	}
	// A journal that was cut has a log all the same: how it ends, it says itself.
	db, err := fileOf(c).readAsItIs(ctx, keys, true)
	if err != nil {
		return storeError(err)
	}
	defer db.Close()
	v := checkedView{Schema: "posagent.audit.check/1"}
	err = db.Read(ctx, func(r store.Reader) (err error) {
		end, err := db.EndIn(ctx, r)
		if errors.Is(err, store.ErrTampered) {
			return fail(exitDamaged, "%v: how the audit log ended is not known (keep a copy of %s as evidence)", err, c.stateDir())
		}
		if err != nil {
			return err
		}
		head := &end.Head
		if *head == (audit.Head{}) {
			head = nil
		}
		v.Report, err = audit.Check(r, db.MAC, head)
		return err
	})
	var coded *exit
	if errors.As(err, &coded) {
		return err
	}
	if err != nil {
		return storeError(err)
	}
	v.OK = len(v.Findings) == 0
	if c.json {
		if err := printJSON(c.out, v); err != nil {
			return err
		}
	} else {
		for _, f := range v.Findings {
			fmt.Fprintln(c.out, f)
		}
		if v.OK {
			fmt.Fprintf(c.out, "lines %d to %d are as they were written\n", v.First, v.Last)
		}
	}
	if !v.OK {
		return fail(exitDamaged, "the audit log was changed: %s (keep a copy of %s as evidence; posagent backup makes one)", v.Findings[0], c.stateDir())
	}
	return nil
}
