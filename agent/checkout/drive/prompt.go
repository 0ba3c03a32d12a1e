package drive

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// ask runs the dialogue at the terminal, then lets the sale start.
func (d *Drive) ask(ctx context.Context, key wire.Key, offers []checkout.Pick, req ecr.Request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.sales.SetPrompt(key, cancel)
	ans, err := d.prompter.Ask(ctx, Question{
		Sale: string(key), Offers: offers, Amount: int64(req.Amount), Currency: req.Currency, NeedAmount: req.Amount == 0,
	})
	var pick checkout.Pick
	if err == nil {
		pick, err = answered(offers, &ans, req)
	}
	if err == nil {
		err = d.chosen(context.WithoutCancel(ctx), key, pick, ans, req)
	}
	if err == nil || errors.Is(err, checkout.ErrRefused) || ctx.Err() != nil {
		return
	}
	d.log.Info("choice given up", "sale", key, "error", err)
	d.p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.GaveUp, Text: err.Error()})
}

// answered checks an answer against what was offered.
func answered(offers []checkout.Pick, ans *Answer, req ecr.Request) (checkout.Pick, error) {
	pick, found := offers[0], ans.Method == ""
	for _, p := range offers {
		if p.Method.Name == ans.Method {
			pick, found = p, true
			break
		}
	}
	n := utf8.RuneCountInString(ans.ConsumerID)
	switch {
	case !found:
		return pick, fmt.Errorf("method %q was not offered", ans.Method)
	case pick.Manual() && (n == 0 || n > 255):
		return pick, errors.New("the consumer's id is missing or too long")
	case req.Amount == 0 && ans.Amount <= 0:
		return pick, errors.New("the amount is missing")
	case req.Amount != 0:
		ans.Amount = int64(req.Amount)
	}
	return pick, checkout.CheckAnswers(pick.Prompts, ans.Answers)
}

// chosen stores the choice with the body it leads to, in the commit that starts the sale.
func (d *Drive) chosen(ctx context.Context, key wire.Key, pick checkout.Pick, ans Answer, asked ecr.Request) error {
	var s journal.Step
	err := d.db.Write(ctx, func(tx store.Tx) error {
		row, err := d.j.ByKey(tx, key)
		if err != nil {
			return err
		}
		row.Method, row.Amount = pick.Method, money.Minor(ans.Amount)
		req, err := d.payRequest(row, pick, ans, asked.Lines, row.Batch)
		if err == nil {
			err = aapay.Validate(aapay.Payment, req)
		}
		if err != nil {
			return err
		}
		if row.State.Phase == checkout.Choosing {
			if err := d.j.SealRequest(tx, row, req); err != nil {
				return err
			}
		}
		terms := d.terms(pick, asked.Progress)
		s, err = d.j.Transit(tx, row, checkout.Event{Name: checkout.Chosen, Terms: &terms})
		return err
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", key, err)
	}
	d.p.Do(s)
	return nil
}
