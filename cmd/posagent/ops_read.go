package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/store"
)

func opsList(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	switch o.filter.State = outbox.State(strings.ToUpper(o.state)); o.filter.State {
	case "", outbox.Pending, outbox.Sent, outbox.Done, outbox.Failed, outbox.Expired, outbox.Doubt, outbox.Held:
	default:
		return fail(exitUsage, "%s: no state %q: pending, sent, done, failed, expired, doubt or held", c.path, o.state)
	}
	if o.filter.Limit < 1 {
		return tooFew(c)
	}
	if o.filter.Open && o.filter.Limit == opsLimit {
		o.filter.Limit = math.MaxInt32
	}
	var v view.Operations
	err := readOps(ctx, c, func(r store.Reader) (err error) { v, err = view.ReadOperations(r, o.filter, gateway.IDs); return err })
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, v)
	}
	fmt.Fprintf(c.out, "%5s %-36s %-22s %-8s %13s %-4s %5s %-9s %s\n", "NO", "KEY", "KIND", "STATE", "AMOUNT", "", "TRIES", "NEXT TRY", "NOTE")
	for _, op := range v.Operations {
		next := "-"
		switch {
		case op.NextTry.After(time.Now()):
			next = op.NextTry.Local().Format(time.TimeOnly)
		case !op.NextTry.IsZero():
			next = "due"
		}
		fmt.Fprintf(c.out, "%5d %-36s %-22s %-8s %13s %-4s %5d %-9s %s\n", op.ID, op.Key, op.Kind, op.State, opAmount(op.Amount, op.Currency), op.Currency,
			op.Attempts, next, op.Note)
	}
	if len(v.Operations) == o.filter.Limit {
		fmt.Fprintf(c.err, "more: posagent ops list --after %d%s\n", v.Operations[len(v.Operations)-1].ID, c.flags())
	}
	return nil
}

func opsShow(ctx context.Context, c *call) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: which operation? (posagent ops list%s)", c.path, c.flags())
	}
	var v view.OneOperation
	err := readOps(ctx, c, func(r store.Reader) error {
		key, err := findOp(r, c.args[0])
		if err == nil {
			v, err = view.ReadOperation(r, key, gateway.IDs)
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, v)
	}
	op := v.Operation
	fmt.Fprintf(c.out, "%s of %s %s: %s\n", op.Kind, opAmount(op.Amount, op.Currency), op.Currency, op.Says)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(c.out, "%-10s %s\n", name, value)
		}
	}
	row("key", string(op.Key))
	row("local id", op.LocalID)
	row("backend's", op.BackendID)
	row("note", op.Note)
	if op.Attempts > 0 {
		row("attempts", fmt.Sprint(op.Attempts))
	}
	for _, e := range v.Timeline {
		mark := " "
		if e.Loud {
			mark = "!"
		}
		fmt.Fprintf(c.out, "%s %s %s\n", e.At.Local().Format("2006-01-02 15:04:05"), mark, e.Text)
	}
	row("next", op.Next)
	switch {
	case op.NextTry.After(time.Now()):
		row("next try", op.NextTry.Local().Format("2006-01-02 15:04:05")+", at the earliest")
	case !op.NextTry.IsZero():
		row("next try", "as soon as the backend answers again")
	}
	if op.Type != "" {
		row("type", op.Type+c.flags())
	}
	return nil
}

func opsReport(ctx context.Context, c *call) error {
	var v view.Reconciliation
	err := readOps(ctx, c, func(r store.Reader) (err error) { v, err = view.ReadReport(r); return err })
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, v)
	}
	columns := []string{"STORED", "WAITING", "SENT", "ACCEPTED", "DECLINED", "EXPIRED", "IN DOUBT", "HELD"}
	fmt.Fprintf(c.out, "%-22s %-4s", "KIND", "")
	for _, name := range columns {
		fmt.Fprintf(c.out, " %17s", name)
	}
	fmt.Fprintln(c.out)
	print := func(name, currency string, figures ...string) {
		fmt.Fprintf(c.out, "%-22s %-4s", name, currency)
		for _, text := range figures {
			fmt.Fprintf(c.out, " %17s", text)
		}
		fmt.Fprintln(c.out)
	}
	for _, l := range v.Lines {
		figure := func(f view.Figure) string {
			if f.Count == 0 {
				return "-"
			}
			return fmt.Sprintf("%d  %s", f.Count, opAmount(f.Sum, l.Currency))
		}
		print(l.Kind, l.Currency, figure(l.Stored), figure(l.Waiting), figure(l.Sent), figure(l.Accepted), figure(l.Declined), figure(l.Expired), figure(l.InDoubt), figure(l.Held))
	}
	open := false
	count := func(n view.Number) string {
		if n.Count == 0 {
			return "-"
		}
		return strconv.FormatInt(n.Count, 10)
	}
	for _, l := range v.Totals { // without amounts: an authorisation and its capture are one
		print("all", l.Currency, count(l.Stored), count(l.Waiting), count(l.Sent), count(l.Accepted), count(l.Declined), count(l.Expired), count(l.InDoubt), count(l.Held))
		open = open || l.Open()
	}
	for _, l := range v.Lines {
		if l.Purged.Count > 0 {
			fmt.Fprintf(c.out, "counted above, and deleted after [offline] retention: %s: %d  %s\n", l.Kind, l.Purged.Count, opAmount(l.Purged.Sum, l.Currency))
		}
	}
	if len(v.Lines) == 0 {
		fmt.Fprintln(c.out, "nothing was ever stored")
	} else if open {
		fmt.Fprintf(c.out, "not at its end: posagent ops list --open%s\n", c.flags())
	}
	return nil
}
