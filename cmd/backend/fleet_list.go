package backend

import (
	"context"
	"fmt"
	"strings"
	"time"

	"posagent/cmd/usage"
	"posagent/schemes/backend"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

func fleetList(ctx context.Context, c *Call) error {
	dir, _, err := c.dir()
	if err != nil {
		return err
	}
	o := &c.fleet
	req := fleet.ListRequest{State: fleet.State(strings.ToUpper(o.state)), SerialNumber: o.serial}
	var list []fleet.Enrolment
	if o.backend != "" {
		ctx, cancel := context.WithTimeout(ctx, fleetWait)
		defer cancel()
		client, err := fleetAt(ctx, c)
		if err != nil {
			return err
		}
		got, err := client.List(ctx, req)
		if err != nil {
			return c.fleetFailed(err)
		}
		list = got.Enrolments
	} else if list, err = backend.ReadFleet(ctx, c.at(dir), req); err != nil {
		if wire.CodeOf(err) == wire.Invalid {
			return c.fleetFailed(err)
		}
		return c.unread(err)
	}
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema     string            `json:"schema"`
			Enrolments []fleet.Enrolment `json:"enrolments"`
		}{"posagent.fleet.list/1", list})
	}
	fmt.Fprintf(c.Out, "%-16s %-9s %-24s %-12s %-12s %5s  %-10s  %-19s  %s\n", "ID", "STATE", "SERIAL NUMBER", "MERCHANT", "TERMINAL", "REV", "UNTIL", "SINCE", "PROGRAM")
	for _, e := range list {
		since := e.CreatedAt
		for _, at := range []string{e.RedeemedAt, e.ConfirmedAt, e.RevokedAt} {
			if at != "" {
				since = at
			}
		}
		note := "  " + programOf(e)
		if e.Bundle {
			note += "  on a stick"
		}
		if e.Reason != "" {
			note += "  " + e.Reason
		}
		if e.RefusedRevision > 0 {
			note += fmt.Sprintf("  refused %d: %s", e.RefusedRevision, dash(e.Refusal))
		}
		fmt.Fprintf(c.Out, "%-16s %-9s %-24s %-12s %-12s %5s  %-10s  %-19s%s\n", e.ID, e.State, dash(e.SerialNumber), dash(e.Slot.MerchantID), dash(e.Slot.TerminalID),
			revisionOf(e), lastDay(e), usage.LocalTime(since), note)
	}
	return nil
}

// revisionOf is the revision that a terminal works with, and the one that it is to have where that is another.
func revisionOf(e fleet.Enrolment) string {
	if e.State != fleet.Confirmed || e.ConfirmedRevision == e.Revision {
		return fmt.Sprint(e.ConfirmedRevision)
	}
	return fmt.Sprintf("%d/%d", e.ConfirmedRevision, e.Revision)
}

// programOf is the version that a terminal runs, and how its last update ended.
func programOf(e fleet.Enrolment) string {
	u, is := e.Update, dash(e.Version)
	switch {
	case u.Version == "":
		return is
	case u.Kept:
		return is + ", kept " + u.Version
	}
	return is + ", took " + u.Version + " back: " + dash(u.Reason)
}

// lastDay is the last day of the certificate that an enrolment has, or of the code that it waits for.
func lastDay(e fleet.Enrolment) string {
	at := e.CertificateExpiresAt
	if e.State == fleet.Fresh {
		at = e.ExpiresAt
	}
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return "-"
	}
	return t.Local().Format(time.DateOnly)
}

// dash stands for a text that is not there.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
