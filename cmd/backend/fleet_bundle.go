package backend

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"posagent/cmd/usage"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

func fleetBundle(ctx context.Context, c *Call) error {
	o := &c.fleet
	ttl, err := seconds(c)
	switch {
	case err != nil:
		return err
	case o.serial == "":
		return usage.Fail(usage.ExitUsage, "%s: --serial-number NUMBER: for which box? (posagent enroll says the number of a box)", c.Path)
	case !fleet.SerialNumber(o.serial):
		return usage.Fail(usage.ExitUsage, "%s: --serial-number %q: want letters, digits, dots, dashes and underscores", c.Path, o.serial)
	}
	req := fleet.CodeRequest{Slot: o.slot, SerialNumber: o.serial, TTLSeconds: ttl, Bundle: true}
	if req.Configuration, err = o.given(c); err != nil {
		return err
	}
	if o.out == "" {
		o.out = o.serial + fleet.BundleSuffix
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(o.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // before a code is made that would be lost with it
	if errors.Is(err, fs.ErrExist) {
		return usage.Fail(usage.ExitRefused, "%s is there already: name another file with --out", o.out)
	}
	if err != nil {
		return usage.Fail(usage.ExitFailed, "--out: %v", err)
	}
	got, err := client.Create(ctx, wire.NewKey(), req)
	if err != nil {
		return errors.Join(c.fleetEnded(err), file.Close(), os.Remove(o.out))
	}
	data, err := base64.StdEncoding.DecodeString(got.Bundle.Reveal())
	if err == nil {
		_, err = file.Write(data)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(usage.Fail(usage.ExitFailed, "%s: %w (its code is worth nothing without it: %s fleet revoke %s, then make another)", o.out, err, c.Program, got.Enrolment.ID), os.Remove(o.out))
	}
	sayLocal(c, got.URL)
	sayUnused(c, o.slot.TerminalID, o.serial, got.Unused)
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema      string          `json:"schema"`
			File        string          `json:"file"`
			Code        string          `json:"code"`
			URL         string          `json:"url"`
			Fingerprint string          `json:"fingerprint"`
			Enrolment   fleet.Enrolment `json:"enrolment"`
			Unused      []fleet.Unused  `json:"unused,omitempty"` // other codes of the terminal
		}{"posagent.fleet.bundle/1", o.out, fleet.ShowCode(got.Code), got.URL, got.Fingerprint, got.Enrolment, got.Unused})
	}
	fmt.Fprintf(c.Out, "bundle       %s\nbox          %s\ncode         %s\ngood until   %s\nservice      %s\nfingerprint  %s\nid           %s\n",
		o.out, got.Enrolment.SerialNumber, fleet.ShowCode(got.Code), usage.LocalTime(got.Enrolment.ExpiresAt), got.URL, got.Fingerprint, got.Enrolment.ID)
	fmt.Fprintf(c.Err, "on the box: posagent enroll CODE --bundle FILE; give the code another way than the stick\n")
	return nil
}
