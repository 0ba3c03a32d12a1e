package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"posagent/agent/view"
	"posagent/store"
)

func methodsCommand() command {
	return command{
		name: "methods", reads: true, short: "the payment methods this terminal may use, and how old the list is",
		json:     []string{"posagent.methods/1"},
		examples: []string{"posagent methods", "posagent methods --json"},
		run:      showMethods,
	}
}

func showMethods(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	var list view.Methods
	if err := readJournal(ctx, c, func(r store.Reader) (err error) {
		list, err = view.ReadMethods(r, linkMethod(cfg), cfg.Methods.TimeoutUnit)
		return err
	}); err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, list)
	}
	switch when := list.Fetched; {
	case when == nil:
		fmt.Fprintln(c.out, "No list yet: the backend has not answered (posagent status).")
	case list.None:
		fmt.Fprintf(c.out, "The backend knows no method for merchant %s, terminal %s.\n", cfg.Terminal.BaxID, cfg.Terminal.TerminalID)
	default:
		fmt.Fprintf(c.out, "fetched %s\n", ago(*when))
	}
	if len(list.Methods) == 0 {
		return nil
	}
	fmt.Fprintf(c.out, "%4s %-14s %-24s %-12s %-24s %9s %12s %15s %s\n", "PRIO", "NAME", "LABEL", "TRIGGER", "TYPES", "STALE AGE", "STALETIMEOUT", "FINALIZETIMEOUT", "WALLET")
	for i, d := range list.Methods {
		age, stale, finalize := list.Times[i].Texts()
		fmt.Fprintf(c.out, "%4d %-14s %-24s %-12s %-24s %9s %12s %15s %s\n", d.Priority, d.Name, d.Label, words(d.Trigger), words(d.TransactionTypes),
			age, stale, finalize, cmp.Or(d.WalletID, "-"))
	}
	fmt.Fprintln(c.out, "stale age: a code may be scanned so long; staleTimeOut: then the customer may confirm so long; finalizeTimeOut: a reservation may stand so long")
	return nil
}

func words[T ~string](list []T) string {
	var out []string
	for _, w := range list {
		out = append(out, strings.ToLower(string(w)))
	}
	return strings.Join(out, ",")
}
