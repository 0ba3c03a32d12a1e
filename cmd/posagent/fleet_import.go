package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

func fleetImport(ctx context.Context, c *call) error {
	o := c.opts.(*fleetOptions)
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: want one CSV file, or - for the input", c.path)
	}
	ttl, err := seconds(c)
	if err != nil {
		return err
	}
	boxes, err := readBoxes(c, c.args[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	got, err := client.Import(ctx, wire.NewKey(), fleet.ImportRequest{TTLSeconds: ttl, Boxes: boxes})
	if err != nil {
		return fleetFailed(err)
	}
	got.URL = o.leadTo(c, got.URL)
	type line struct {
		SerialNumber string `json:"serialNumber"`
		ID           string `json:"id"`
		Code         string `json:"code,omitempty"`
		Ticket       string `json:"ticket,omitempty"`
		ExpiresAt    string `json:"expiresAt"`

		Unused []fleet.Unused `json:"unused,omitempty"` // other codes of the terminal
	}
	list, made := make([]line, len(got.Codes)), 0
	for i, k := range got.Codes {
		list[i] = line{SerialNumber: k.SerialNumber, ID: k.EnrolmentID, ExpiresAt: k.ExpiresAt, Unused: k.Unused}
		sayUnused(c, boxes[i].Slot.TerminalID, k.SerialNumber, k.Unused)
		if k.Code != "" {
			made++
			list[i].Code, list[i].Ticket = fleet.ShowCode(k.Code), fleet.Ticket{URL: got.URL, Code: k.Code, Fingerprint: got.Fingerprint}.Text()
		}
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema      string `json:"schema"`
			URL         string `json:"url"`
			Fingerprint string `json:"fingerprint"`
			Codes       []line `json:"codes"`
		}{"posagent.fleet.import/1", got.URL, got.Fingerprint, list})
	}
	fmt.Fprintf(c.out, "%-24s %-14s %-19s %s\n", "SERIAL NUMBER", "CODE", "GOOD UNTIL", "ID")
	for _, k := range list {
		if k.Code == "" {
			k.Code = "has one"
		}
		fmt.Fprintf(c.out, "%-24s %-14s %-19s %s\n", k.SerialNumber, k.Code, localTime(k.ExpiresAt), k.ID)
	}
	fmt.Fprintf(c.err, "%d codes made, %d boxes have a fresh one; service %s, fingerprint %s\n", made, len(list)-made, got.URL, got.Fingerprint)
	return nil
}

func readBoxes(c *call, name string) ([]fleet.ImportBox, error) {
	from := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fail(exitFailed, "%v", err)
		}
		defer f.Close()
		from = io.Reader(f)
	}
	list, err := fleet.ReadBoxes(from)
	if err != nil {
		return nil, fail(exitUsage, "%s: %w", name, err)
	}
	return list, nil
}
