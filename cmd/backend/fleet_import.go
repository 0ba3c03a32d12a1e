package backend

import (
	"context"
	"fmt"
	"io"

	"posagent/cmd/usage"
	"posagent/device/file"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

func fleetImport(ctx context.Context, c *Call) error {
	o := &c.fleet
	if len(c.Args) != 1 {
		return usage.Fail(usage.ExitUsage, "%s: want one CSV file, or - for the input", c.Path)
	}
	ttl, err := seconds(c)
	if err != nil {
		return err
	}
	boxes, err := readBoxes(c, c.Args[0])
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
		return c.fleetFailed(err)
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
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema      string `json:"schema"`
			URL         string `json:"url"`
			Fingerprint string `json:"fingerprint"`
			Codes       []line `json:"codes"`
		}{"posagent.fleet.import/1", got.URL, got.Fingerprint, list})
	}
	fmt.Fprintf(c.Out, "%-24s %-14s %-19s %s\n", "SERIAL NUMBER", "CODE", "GOOD UNTIL", "ID")
	for _, k := range list {
		if k.Code == "" {
			k.Code = "has one"
		}
		fmt.Fprintf(c.Out, "%-24s %-14s %-19s %s\n", k.SerialNumber, k.Code, usage.LocalTime(k.ExpiresAt), k.ID)
	}
	fmt.Fprintf(c.Err, "%d codes made, %d boxes have a fresh one; service %s, fingerprint %s\n", made, len(list)-made, got.URL, got.Fingerprint)
	return nil
}

func readBoxes(c *Call, name string) ([]fleet.ImportBox, error) {
	from := c.In
	if name != "-" {
		f, _, err := file.Open(name, file.Follow)
		if err != nil {
			return nil, usage.Fail(usage.ExitFailed, "%v", err)
		}
		defer f.Close()
		from = io.Reader(f)
	}
	list, err := fleet.ReadBoxes(from)
	if err != nil {
		return nil, usage.Fail(usage.ExitUsage, "%s: %w", name, err)
	}
	return list, nil
}
