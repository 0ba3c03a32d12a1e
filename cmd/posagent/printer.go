package main

import (
	"errors"
	"fmt"
	"slices"

	"posagent/agent/config"
	"posagent/agent/paper"
	"posagent/device/line"
	"posagent/device/printer"
	"posagent/ecr/receipt"
)

// receiptPrinter is the printer that the configuration names, nil where it names none. It opens nothing.
func receiptPrinter(cfg config.Config) (*printer.Printer, error) {
	c := cfg.Printer
	if c.Device == "" {
		return nil, nil
	}
	prof, err := printer.Named(c.Profile)
	if err == nil && c.Status != "" {
		prof.Status, err = printer.StatusNamed(c.Status)
	}
	pages, wrong := c.CodePages()
	if err = errors.Join(err, wrong); err != nil {
		return nil, fmt.Errorf("config: printer: %w", err)
	}
	if len(pages) > 0 {
		prof.Pages = nil
	}
	for _, one := range pages {
		prof.Pages = append(prof.Pages, printer.Page{Name: one.Name, Number: one.Number})
	}
	if c.Columns != 0 {
		prof.Columns = c.Columns
	}
	to := printer.Config{Profile: prof, Torn: receipt.WordsFor(cfg.Terminal.Language).CutOff}
	switch c.DeviceKind() {
	case config.PrinterUSB:
		to.Open = printer.Device(c.Device)
	case config.PrinterFile:
		to.Open, to.Profile.Status = printer.File(c.Device), printer.NoStatus // a file answers nothing
	default:
		to.Open = line.New(line.Config{Path: c.Device, Baud: c.Baud, StopBits: 1}).Open
	}
	p, err := printer.New(to)
	if err != nil {
		return nil, fmt.Errorf("config: printer: %w", err)
	}
	return p, nil
}

func printsOf(cfg config.Config) paper.Prints {
	has := func(what string) bool { return slices.Contains(cfg.Printer.Prints, what) }
	return paper.Prints{Customer: has("customer"), Merchant: has("merchant"), EndOfDay: has("end_of_day")}
}
