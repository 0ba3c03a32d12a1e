package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"time"

	"posagent/agent/records/history"
	"posagent/store"
)

type historyOptions struct {
	since moment
	limit int
}

func historyCommand() command {
	return command{
		name: "history", reads: true, short: "what happened to the terminal: starts and why, stops, when it was ready and when not, 30 days back",
		long: "Reads the journal beside the terminal, or without it, and what happened to the enrolment: configurations taken up and given up,\n" +
			"renewals, the revocation. Oldest first. A start says how the run before it had ended: stopped,\n" +
			"killed (the program ended, the box stayed up), powerup (the box began anew), restored (a backup was put back since), first. With\n" +
			"--json each entry is one object.",
		json:     []string{"posagent.history/1"},
		examples: []string{"posagent history", "posagent history --since 1d", "posagent history --since 2026-11-25", "posagent history --json | grep not_ready"},
		flags: func(fs *flag.FlagSet) any {
			o := &historyOptions{}
			momentVar(fs, &o.since, "since", "30d", "from this `time` on: how far back (90m, 24h, 1d), or a day of the box's calendar (2026-11-25)")
			fs.IntVar(&o.limit, "limit", 500, "only the newest `number` of entries")
			return o
		},
		run: runHistory,
	}
}

// historyView is one entry (posagent.history/1).
type historyView struct {
	Schema string    `json:"schema"`
	ID     int64     `json:"id"` // in the journal, 0 = it stands in the enrolment
	At     time.Time `json:"at"`
	What   string    `json:"what"`
	Cause  string    `json:"cause,omitempty"`
	Text   string    `json:"text"`
}

func runHistory(ctx context.Context, c *call) error {
	o := c.opts.(*historyOptions)
	if o.limit < 1 {
		return tooFew(c)
	}
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	var list []history.Entry
	since := o.since.since(time.Now())
	err = db.Read(ctx, func(r store.Reader) (err error) {
		list, err = history.Since(r, since, o.limit)
		return err
	})
	if err != nil {
		return storeError(err)
	}
	list = withEnrolment(c, list, since, o.limit)
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	for _, e := range list {
		if c.json {
			err = enc.Encode(historyView{"posagent.history/1", e.ID, e.At, e.What, e.Cause, e.Text})
		} else {
			_, err = fmt.Fprintln(c.out, e.At.Local().Format("2006-01-02 15:04:05"), sentence(e))
		}
		if err != nil {
			return err
		}
	}
	if len(list) == 0 && !c.json {
		fmt.Fprintf(c.out, "nothing happened since %s\n", since.Local().Format("2006-01-02 15:04:05"))
	}
	return nil
}

// sentence is an entry for a person.
func sentence(e history.Entry) string {
	switch e.What {
	case history.Started:
		why := map[string]string{
			history.First: "the first start on this journal", history.Stop: "after a stop", history.Killed: "after it had ended without a stop: killed, or it crashed",
			history.PowerUp: "after the box lost its power or began anew", history.Restored: "after a restore: the journal was put back from a backup",
		}[e.Cause]
		return "started, " + why + "; " + e.Text
	case history.Stopped:
		return "stopped, " + e.Text
	case history.Ready:
		return "READY" + after(" ", e.Text)
	case history.Offline:
		return "READY, offline: " + e.Text
	case enrolmentChanged, history.Reconciled:
		return e.Text
	}
	return "NOT READY: " + e.Text
}

// after puts something before a text that is not empty.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}
