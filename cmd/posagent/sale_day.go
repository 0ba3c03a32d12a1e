package main

import (
	"context"
	"errors"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/control"
	"posagent/agent/support/daily"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// dayOf names the shop's day of a moment, nil where a register alone closes one.
func dayOf(cfg config.Config) (func(time.Time) string, error) {
	if cfg.EndOfDay() == config.ByRegister {
		return nil, nil
	}
	at, err := daily.ParseAt(cfg.EndOfDay())
	if err != nil {
		return nil, fail(exitConfig, "checkout.end_of_day: %w", err)
	}
	return func(moment time.Time) string { return daily.Day(moment, at, time.Local) }, nil
}

func dayCommand() command {
	return command{
		name: "end-of-day", short: "close the day as a register does: the sums of the open batch, then a new one begins",
		long: "The terminal must be running. A sale that is open, or that its register has not acknowledged, is settled first: where that takes\n" +
			"longer than a minute the day stays open, and the verb says so. The slip is shown here, and printed where [printer] prints says so.\n" +
			"[checkout] end_of_day lets the terminal close each day by itself; without a register line it does so at midnight.",
		json:     []string{"posagent.day/1"},
		examples: []string{"posagent sale end-of-day", "posagent sale end-of-day --json", "posagent sale print --end-of-day --text    # the newest slip again"},
		run:      dayClose,
	}
}

func dayClose(ctx context.Context, c *call) error {
	if len(c.args) > 0 {
		return fail(exitUsage, "%s: the open batch is closed, whatever its number", c.path)
	}
	batch, err := (&control.Client{Path: controlSocket(c)}).CloseDay(ctx)
	if e := (*wire.Error)(nil); errors.As(err, &e) && e.Code == wire.Conflict {
		return fail(exitRefused, "%s: the day stays open: %s (posagent status%s shows what is open)", c.path, e.Msg, c.flags())
	}
	if err != nil {
		return refused(c, err)
	}
	var t ecr.Totals
	if err := readJournal(ctx, c, func(r store.Reader) (err error) { t, err = journal.Report(r, batch); return err }); err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, view.ClosedDayOf(t))
	}
	text, err := daySlip(c, t, false)
	if err == nil {
		_, err = c.out.Write([]byte(text))
	}
	return err
}
