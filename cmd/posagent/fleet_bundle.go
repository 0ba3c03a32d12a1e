package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// bundleSuffix ends the name of a bundle file.
const bundleSuffix = ".pabundle"

func fleetBundle(ctx context.Context, c *call) error {
	o := c.opts.(*fleetOptions)
	ttl, err := seconds(c)
	switch {
	case err != nil:
		return err
	case o.serial == "":
		return fail(exitUsage, "%s: --serial NUMBER: for which box? (posagent enroll says the number of a box)", c.path)
	case !fleet.SerialNumber(o.serial):
		return fail(exitUsage, "%s: --serial %q: want letters, digits, dots, dashes and underscores", c.path, o.serial)
	}
	req := fleet.CodeRequest{Slot: o.slot, SerialNumber: o.serial, TTLSeconds: ttl, Bundle: true}
	if req.Configuration, err = o.given(c); err != nil {
		return err
	}
	if o.out == "" {
		o.out = o.serial + bundleSuffix
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(o.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // before a code is made that would be lost with it
	if errors.Is(err, fs.ErrExist) {
		return fail(exitRefused, "%s is there already: name another file with --out", o.out)
	}
	if err != nil {
		return fail(exitFailed, "--out: %v", err)
	}
	got, err := client.Create(ctx, wire.NewKey(), req)
	if err != nil {
		return errors.Join(fleetEnded(err), file.Close(), os.Remove(o.out))
	}
	data, err := base64.StdEncoding.DecodeString(got.Bundle.Reveal())
	if err == nil {
		_, err = file.Write(data)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(fail(exitFailed, "%s: %w (its code is worth nothing without it: posagent backend fleet revoke %s, then make another)", o.out, err, got.Enrolment.ID), os.Remove(o.out))
	}
	sayLocal(c, got.URL)
	sayUnused(c, o.slot.TerminalID, o.serial, got.Unused)
	if c.json {
		return printJSON(c.out, struct {
			Schema      string          `json:"schema"`
			File        string          `json:"file"`
			Code        string          `json:"code"`
			URL         string          `json:"url"`
			Fingerprint string          `json:"fingerprint"`
			Enrolment   fleet.Enrolment `json:"enrolment"`
			Unused      []fleet.Unused  `json:"unused,omitempty"` // other codes of the terminal
		}{"posagent.fleet.bundle/1", o.out, fleet.ShowCode(got.Code), got.URL, got.Fingerprint, got.Enrolment, got.Unused})
	}
	fmt.Fprintf(c.out, "bundle       %s\nbox          %s\ncode         %s\ngood until   %s\nservice      %s\nfingerprint  %s\nid           %s\n",
		o.out, got.Enrolment.SerialNumber, fleet.ShowCode(got.Code), localTime(got.Enrolment.ExpiresAt), got.URL, got.Fingerprint, got.Enrolment.ID)
	fmt.Fprintf(c.err, "on the box: posagent enroll CODE --bundle FILE; give the code another way than the stick\n")
	return nil
}
