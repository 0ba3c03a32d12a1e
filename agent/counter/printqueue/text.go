package printqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/device/printer"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/store"
)

// Limits of what registers print.
const (
	MaxTexts    = 20 // that wait; a receipt that waits never goes for a new one
	maxTextSize = 16 << 10
)

// ErrTexts is the error of Text where too many wait.
var ErrTexts = errors.New("too many texts of registers wait for paper")

// errText is the error of a text that cannot be read back.
var errText = errors.New("text is damaged")

// Text adds a piece of paper with a register's lines; nil says that it is stored. It fails with
// ErrTexts, printer.ErrDocument where it is too long, and errors of the store.
func (p *Paper) Text(ctx context.Context, lines []ecr.PrintLine) error {
	data, err := json.Marshal(lines)
	if err != nil {
		return fmt.Errorf("text for paper: %w", err)
	}
	if len(data) > maxTextSize {
		return fmt.Errorf("%w: a text of %d bytes, want at most %d", printer.ErrDocument, len(data), maxTextSize)
	}
	err = p.o.DB.Write(ctx, func(tx store.Tx) error {
		var texts, span int
		err := tx.QueryRow(`SELECT COALESCE(SUM(what = ?), 0), COALESCE(MAX(id) - MIN(id) + 1, 0) FROM paper_waiting`, ofText).Scan(&texts, &span)
		if err != nil {
			return err
		}
		if texts >= MaxTexts || span >= MaxWaiting {
			return ErrTexts
		}
		_, err = p.add(tx, waiting{what: ofText, name: string(data)})
		return err
	})
	if err == nil {
		p.wake()
	}
	return err
}

// text sets a register's lines.
func (p *Paper) text(w waiting) (printer.Document, error) {
	var lines []ecr.PrintLine
	if err := json.Unmarshal([]byte(w.name), &lines); err != nil {
		return printer.Document{}, fmt.Errorf("%w: %w", errText, err)
	}
	var d printer.Document
	if p.o.Sandbox {
		d.Lines = append(d.Lines, printer.Line{Text: "SANDBOX", Align: printer.Centre, Bold: true})
	}
	if w.again {
		d.Lines = append(d.Lines, printer.Line{Text: receipt.WordsFor(p.o.Head.Language).Copy, Align: printer.Centre})
	}
	for _, l := range lines {
		one := printer.Line{Text: l.Text, Double: l.Double}
		switch {
		case l.Feed > 0:
			one = printer.Line{Kind: printer.Feed, Lines: min(l.Feed, printer.MaxFeed)}
		case l.Text == "":
			one = printer.Line{Kind: printer.Feed, Lines: 1}
		case l.Centre:
			one.Align = printer.Centre
		}
		d.Lines = append(d.Lines, one)
	}
	d.Lines = append(d.Lines, printer.Line{Kind: printer.Cut})
	return d, nil
}
