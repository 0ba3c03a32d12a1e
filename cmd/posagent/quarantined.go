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
	"posagent/agent/view"
	"posagent/store"
)

// asideCommands are what a person can decide about a sale that was set aside.
func asideCommands() []command {
	return []command{
		{
			name: "release", args: "SALE", short: "let a sale that was set aside go on: paid, it counts; not paid, it ends; it is never undone",
			long: "Needs the terminal stopped: the next start asks the backend. A sale that was paid gets a receipt and counts in the open day;\n" +
				"one that was not paid ends. Nothing gives the money back by itself: refund it as any other payment. Use it when the register's\n" +
				"journal shows the approval; compare both first.",
			json:     []string{"posagent.aside/1"},
			examples: []string{"posagent sale release SALE"}, run: saleRelease,
		},
		{
			name: "close", args: "SALE", destroys: true, short: "count a sale that was set aside as settled: nothing more is done about it",
			long:     "Needs the terminal stopped. Use it when the register's journal shows how the sale ended; the note is kept in its history.",
			json:     []string{"posagent.aside/1"},
			examples: []string{"posagent sale close SALE --note 'paid, receipt 17 of the register'"},
			flags: func(fs *flag.FlagSet) any {
				o := &closeOptions{}
				fs.StringVar(&o.note, "note", "", "`text`: who decided, and why")
				return o
			},
			run: saleClose,
		},
	}
}

type closeOptions struct{ note string }

func saleRelease(ctx context.Context, c *call) error {
	return decideAside(ctx, c, agent.DeedRelease, "", "goes on with the next start", func(tx store.Tx, db store.DB, id string) error {
		return journal.TakeUp(tx, db, id, time.Now())
	})
}

func saleClose(ctx context.Context, c *call) error {
	note := c.opts.(*closeOptions).note
	if note == "" {
		return fail(exitUsage, "%s: why? (--note TEXT, it is kept in the sale's history)", c.path)
	}
	return decideAside(ctx, c, agent.DeedClose, note, "is closed", func(tx store.Tx, db store.DB, id string) error {
		return journal.CloseAside(tx, db, id, note, time.Now())
	})
}

// decideAside writes a person's decision about one sale into the journal of a stopped terminal.
func decideAside(ctx context.Context, c *call, deed, note, done string, decide func(store.Tx, store.DB, string) error) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: which sale? (posagent status)", c.path)
	}
	db, err := openStopped(ctx, c, "")
	if err != nil {
		return err
	}
	defer db.Close()
	var id string
	err = db.Write(asPerson(ctx), func(tx store.Tx) error {
		var err error
		if id, err = findSale(tx, c.args[0]); err != nil {
			return err
		}
		if err := decide(tx, db, id); err != nil {
			return err
		}
		return audit.Append(tx, time.Now(), audit.Deed{Deed: deed, Subject: id, Detail: note})
	})
	var coded *exit
	switch {
	case errors.As(err, &coded):
		return err
	case errors.Is(err, journal.ErrUnknown):
		none := func(r store.Reader) error { return view.NoSale(r, c.args[0]) }
		return notHere(ctx, db, none, "no sale %q (posagent sale list shows them)", c.args[0])
	case errors.Is(err, journal.ErrQuarantined):
		return fail(exitRefused, "sale %s was changed from outside, and nothing can go on with it (posagent sale close %s --note TEXT)", id, id)
	case errors.Is(err, journal.ErrNotAside):
		return fail(exitRefused, "sale %s waits for no decision (posagent sale show %s)", id, id)
	case err != nil:
		return storeError(err)
	}
	if c.json {
		return printJSON(c.out, asideView{"posagent.aside/1", id})
	}
	fmt.Fprintf(c.out, "sale %s %s\n", id, done)
	return nil
}

// asideView names the sale that was decided about (posagent.aside/1).
type asideView struct {
	Schema string `json:"schema"`
	Sale   string `json:"sale"`
}
