package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
)

// report prints a result; an error says that the answer was no.
func report(c *call, res zvt.Result, currency string) error {
	if c.json {
		if err := printJSON(c.out, struct {
			Schema string `json:"schema"`
			zvt.Result
		}{"posagent.register/1", res}); err != nil {
			return err
		}
	} else {
		for _, l := range res.Printed {
			fmt.Fprintln(c.out, "  "+l)
		}
		fmt.Fprintln(c.out, summary(res, currency))
	}
	if !res.OK() {
		return exitWith(exitFailed, errors.New(""))
	}
	return nil
}

// summary is a result in one line.
func summary(res zvt.Result, currency string) string {
	var b strings.Builder
	switch {
	case res.Refused:
		fmt.Fprintf(&b, "refused (84 %02X: %s)", res.Code, res.CodeText)
	case res.Approved:
		b.WriteString("approved")
	case res.Code == zvt.CodeAborted:
		b.WriteString("aborted")
	case res.OK():
		b.WriteString("done")
	default:
		fmt.Fprintf(&b, "declined (%02X: %s)", res.Code, res.CodeText)
	}
	if res.Amount != 0 {
		fmt.Fprintf(&b, ", %s %s", amountText(res.Amount, currency), currency)
	}
	if res.Receipt != 0 {
		fmt.Fprintf(&b, ", receipt %d", res.Receipt)
	}
	if res.CardName != "" {
		fmt.Fprintf(&b, ", %s", res.CardName)
	}
	if res.Text != "" {
		fmt.Fprintf(&b, ": %s", res.Text)
	}
	if res.Version != "" {
		fmt.Fprintf(&b, ", %s, status %02X", res.Version, res.Status)
	}
	return b.String()
}

// tracer shows the dialogue as it happens: who speaks, the bytes, and what they mean.
func tracer(c *call, cs apdu.Charset) func(string, []byte) {
	var mu sync.Mutex
	return func(direction string, data []byte) {
		who := "terminal → register"
		if direction == "out" {
			who = "register → terminal"
		}
		text := "not understood"
		if m, err := apdu.Decode(data); err == nil {
			text = oneLine(apdu.Describe(m, cs))
		}
		raw := strings.ToUpper(hex.EncodeToString(data))
		if len(raw) > 48 {
			raw = raw[:46] + "…"
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(c.err, "%s  %-48s %s\n", who, raw, text)
	}
}

// oneLine is a message as a reader of the trace wants it.
func oneLine(d apdu.Description) string {
	parts := []string{d.Name}
	for _, s := range []string{d.Meaning, d.Text} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	for _, f := range d.Fields {
		text := f.Name
		for _, s := range []string{f.Value, f.Meaning} {
			if s != "" {
				text += " " + s
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}
