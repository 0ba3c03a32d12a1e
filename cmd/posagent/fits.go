package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/store"
)

// fits returns nil where a journal can go on with a configuration: *agent.OtherBackendError, and *journal.OtherCurrencyError with what
// to do about it.
func fits(r store.Reader, cfg config.Config) error {
	return cmp.Or(agent.Fits(r, owner(cfg, false), places(cfg, false)), closeFirst(journal.FitsCurrency(r, cfg.Terminal.Currency)))
}

// unknownBefore says what to do where a service moves although the journal does not know all that was sent to it.
func unknownBefore(c *call, e *agent.OtherBackendError) error {
	say := fmt.Sprintf("posagent journal moved%s %s", c.flags(), cmp.Or(e.Service, agent.Schemes))
	return fail(exitRefused, "%w (set [upstream] as it was; or compare the portal of the one before: where the same books stand at both, %s --reason TEXT; "+
		"where others do, and no till and no client will repeat what it has asked for, %[2]s --other-books --reason TEXT)", e, say)
}

// closeFirst says what to do where a batch has another currency; any other error stays.
func closeFirst(err error) error {
	var other *journal.OtherCurrencyError
	if !errors.As(err, &other) {
		return err
	}
	return fail(exitRefused, "%w (set currency of [terminal] to %q, close the day at the register, then set it to %q)", err, other.Was, other.Now)
}

// keepCurrency ties the open batch to the terminal's currency.
func keepCurrency(ctx context.Context, db store.DB, cfg config.Config) error {
	err := db.Write(ctx, func(tx store.Tx) error { return journal.KeepCurrency(tx, cfg.Terminal.Currency) })
	var other *journal.OtherCurrencyError
	if errors.As(err, &other) {
		return closeFirst(err)
	}
	return storeError(err)
}

// owes returns whether money is, or may be, open in a journal that another configuration could not end, or could not sum: that has to
// wait.
func owes(r store.Reader, cfg config.Config) (bool, error) {
	err := fits(r, cfg)
	var backend *agent.OtherBackendError
	var currency *journal.OtherCurrencyError
	switch {
	case errors.As(err, &currency):
		return true, nil
	case errors.As(err, &backend):
		return backend.Sales+backend.Ops > 0 || backend.Replaced != "", nil
	}
	return false, err
}
