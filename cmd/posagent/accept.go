package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/records/audit"
	"posagent/device"
	"posagent/store"
)

func journalCommand() command {
	return command{
		name: "journal", short: "whether money is open in the journal; what a person decides about one that was cut",
		long: "A journal is cut when it ends before what its mark has seen (agent.db.mark): a damaged log, an older copy put back, or no journal at\n" +
			"all. So is one on another box than the one that wrote it last, as a copied card is: two of serial number, card, network card and\n" +
			"machine id are others there. Nothing is sent or undone then. A backup that is newer than the cut is put back by posagent restore; without one, what is left\n" +
			"is taken by posagent journal accept; where nothing is left, posagent reset --lost-journal --reason TEXT begins anew.", examples: []string{"posagent journal accept --reason 'the card was swapped, the register was compared'"},
		sub: []command{{
			name: "accept", destroys: true, short: "go on with a journal that was cut, without what is missing in it",
			long: "Needs the terminal stopped. Compare the register's own journal with posagent sale list first: sales and operations that are missing\n" +
				"here may have been paid. What is open is held then for a person; a new batch begins, and receipt numbers go on behind all that were\n" +
				"given. The reason stands in the audit log. A backup that is newer than the cut is better: posagent restore.",
			json:     []string{"posagent.accept/1"},
			examples: []string{"posagent journal accept --reason 'the card was swapped, the register was compared'"},
			flags: func(fs *flag.FlagSet) any {
				o := &acceptOptions{}
				fs.StringVar(&o.reason, "reason", "", "`text`: who decided, and why")
				return o
			},
			run: journalAccept,
		}, {
			name: "moved", args: "SERVICE", destroys: true, short: "say that the books of a service stand at another address or account now",
			long: "Needs the terminal stopped, with the new address in its configuration. While something of a service is open, the terminal\n" +
				"does not start at another address or account of it: asked of other books, what was paid would be called undone, and what was\n" +
				"sent would be sent again. Say it only where the same books stand there. A journal that was restored, accepted or begun anew does not\n" +
				"know all that was sent: for 90 days it goes to another address or account by this verb alone. Where other books stand there, compare\n" +
				"the portal of the ones before, see that no till and no client repeats an older request, and add --other-books. SERVICE is schemes, payments, tokens, paylinks or hosted.",
			json:     []string{"posagent.moved/1"},
			examples: []string{"posagent journal moved payments --reason 'the acquirer has a new host name'"},
			flags: func(fs *flag.FlagSet) any {
				o := &acceptOptions{}
				fs.StringVar(&o.reason, "reason", "", "`text`: who said so, and why")
				fs.BoolVar(&o.others, "other-books", false, "other books stand there, and nothing that was sent to the ones before will be asked for again")
				return o
			},
			run: journalMoved,
		}, {
			name: "numbers", destroys: true, short: "let bare receipt and trace numbers name payments again after a restore",
			long: "Needs the terminal stopped. A journal that took another's place does not know which numbers that one gave: a receipt or trace number\n" +
				"that may be one of them names no payment, and others only with the payment's amount. Say this once no slip of the lost days can\n" +
				"come back, or once they were compared with the backend's portal. R<batch>/<receipt> and T<transaction> name a payment at any time.",
			json:     []string{"posagent.numbers/1"},
			examples: []string{"posagent journal numbers --reason 'the slips of that week are all settled'"},
			flags: func(fs *flag.FlagSet) any {
				o := &acceptOptions{}
				fs.StringVar(&o.reason, "reason", "", "`text`: who decided, and why")
				return o
			},
			run: journalNumbers,
		}, {
			name: "pending", reads: true, short: "say whether money is open in the journal, what, and since when; exit 6 if it is",
			long: "Reads the journal beside the running terminal, or without it, and compares it with its marks. A package asks it before it is removed;\n" +
				"with --unit it asks the state directory that a unit of systemd starts the terminal with, which a drop-in may have changed.",
			json:     []string{"posagent.pending/1"},
			examples: []string{"posagent journal pending", "posagent journal pending --unit posagent.service", "posagent journal pending --json"},
			flags: func(fs *flag.FlagSet) any {
				o := &pendingOptions{}
				fs.StringVar(&o.unit, "unit", "", "ask the terminal of this systemd `unit`")
				return o
			},
			run: journalPending,
		}},
	}
}

type acceptOptions struct {
	reason string
	others bool // journal moved
}

// acceptView is what an acceptance came to (posagent.accept/1).
type acceptView struct {
	Schema     string `json:"schema"`
	Why        string `json:"why"`
	Generation int64  `json:"generation"`
	Sales      int    `json:"sales"` // held
	Operations int    `json:"operations"`
}

// movedView is what the journal was told (posagent.moved/1).
type movedView struct {
	Schema  string `json:"schema"`
	Service string `json:"service"`
	Place   string `json:"place"`
}

// movable are the services whose books a journal knows the place of.
const movable = "schemes, payments, tokens, paylinks or hosted"

func journalMoved(ctx context.Context, c *call) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: which service? (%s)", c.path, movable)
	}
	reason, service := c.opts.(*acceptOptions).reason, c.args[0]
	if reason == "" {
		return fail(exitUsage, "%s: why? (--reason TEXT, it is kept in the audit log)", c.path)
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	if chosen, bad := enrolment(c).Chosen(); bad == nil { // a revision that waits for this word
		if next, bad := configWith(c, chosen.Revision, chosen.Text, chosen.Certificate); bad == nil {
			cfg = next
		}
	}
	if cfg.Sandbox() {
		return fail(exitRefused, "a sandbox has its own books (set [upstream] to where they stand)")
	}
	name, at := owner(cfg, false), places(cfg, false)
	if service != agent.Schemes && at[service] == "" {
		return fail(exitUsage, "%s: no service %q (%s)", c.path, service, movable)
	}
	db, err := openStopped(asPerson(ctx), c, "")
	if err != nil {
		return err
	}
	defer db.Close()
	beside, err := besideOf(ctx, c, db)
	if err == nil {
		err = beginGeneration(asPerson(ctx), db, logger(c))
	}
	if err == nil {
		err = agent.Remember(ctx, db, beside, logger(c))
	}
	if err != nil {
		return storeError(err)
	}
	move := agent.Move{Service: service, Others: c.opts.(*acceptOptions).others, Reason: reason}
	var other *agent.OtherBackendError
	switch err := agent.Moved(asPerson(ctx), db, beside, time.Now(), move, name, at); {
	case errors.Is(err, agent.ErrNotMoved):
		return fail(exitRefused, "%s: %w", service, err)
	case errors.As(err, &other) && other.FromSandbox() && other.Sales+other.Ops == 0:
		return ofPlay(c, other)
	case errors.As(err, &other) && !other.Foreign():
		return fail(exitRefused, "%w (run it with that address and account until posagent status%s shows nothing open)", err, c.flags())
	case errors.As(err, &other):
		return fail(exitRefused, "%w (set merchant_id and terminal_id of [terminal] to those of the journal)", err)
	case err != nil:
		return storeError(err)
	}
	v := movedView{Schema: "posagent.moved/1", Service: service, Place: at[service]}
	if service == agent.Schemes {
		v.Place = name
	}
	if c.json {
		return printJSON(c.out, v)
	}
	fmt.Fprintf(c.out, "noted: the books of %s stand at %s\n", v.Service, v.Place)
	return nil
}

// numbersView says that bare numbers name payments again (posagent.numbers/1).
type numbersView struct {
	Schema string `json:"schema"`
}

func journalNumbers(ctx context.Context, c *call) error {
	reason := c.opts.(*acceptOptions).reason
	if reason == "" {
		return fail(exitUsage, "%s: why? (--reason TEXT, it is kept in the audit log)", c.path)
	}
	db, err := openStopped(asPerson(ctx), c, "")
	if err != nil {
		return err
	}
	defer db.Close()
	released := false
	err = db.Write(asPerson(ctx), func(tx store.Tx) error {
		if released, err = journal.ReleaseNumbers(tx); err != nil || !released {
			return err
		}
		return audit.Append(tx, time.Now(), audit.Deed{Deed: agent.DeedNumbers, Detail: reason})
	})
	switch {
	case err != nil:
		return storeError(err)
	case !released:
		return fail(exitRefused, "each number names its payment: there is nothing to release")
	case c.json:
		return printJSON(c.out, numbersView{"posagent.numbers/1"})
	}
	fmt.Fprintln(c.out, "noted: receipt and trace numbers name payments again")
	return nil
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
