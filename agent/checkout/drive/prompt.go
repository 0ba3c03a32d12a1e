package drive

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/device/display"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// ShowDialogue puts what a person is asked for on the screen, in the terminal's language; it does nothing once the sale does not wait
// for an answer any more.
func (d *Drive) ShowDialogue(sale string, v display.View) { d.p.ShowDialogue(wire.Key(sale), v) }

// StopPayment asks to stop the payment that runs, if one does, and it is sale or sale is "": a person at the terminal wishes it. It
// does not wait for the end.
func (d *Drive) StopPayment(sale string) {
	d.p.Later(func(ctx context.Context) {
		var key wire.Key
		err := d.db.Read(ctx, func(r store.Reader) error {
			rows, err := d.j.Active(r)
			for _, row := range rows {
				if !row.Quarantined && row.Kind == ecr.Payment && checkout.Open(row.State) && (sale == "" || sale == string(row.Key)) {
					key = row.Key
				}
			}
			return err
		})
		if err == nil && key != "" {
			err = d.Abort(d.byPerson(ctx), string(key))
		}
		if err != nil && !errors.Is(err, ecr.ErrTooLate) {
			d.log.Error("not stopped", "sale", key, "error", err)
		}
	})
}

// ask runs the dialogue at the terminal, then lets the sale start.
func (d *Drive) ask(ctx context.Context, as func(context.Context) context.Context, key wire.Key, offers []checkout.Pick, first int, req ecr.Request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !d.sales.SetPrompt(key, cancel) || !d.choosing(ctx, key) { // read after it can be ended: an abort comes before or after
		return
	}
	d.p.AtTerminal(key)
	q := Question{Sale: string(key), Kind: req.Kind, Offers: offers, Default: first, Amount: int64(req.Amount), Currency: req.Currency, NeedAmount: req.Amount == 0}
	if !q.NeedAmount && !offers[first].Asks() {
		q.After = chooseWithin
	}
	ans, err := d.prompter.Ask(ctx, q)
	var pick checkout.Pick
	if err == nil {
		pick, err = answered(q, &ans, req)
	}
	switch {
	case err != nil:
	case pick.Back:
		err = d.chosenBack(as(context.WithoutCancel(ctx)), key, pick, ans)
	default:
		err = d.chosen(as(context.WithoutCancel(ctx)), key, pick, ans, req)
	}
	if err == nil || errors.Is(err, checkout.ErrRefused) || ctx.Err() != nil {
		return
	}
	d.log.Info("choice given up", "sale", key, "error", err)
	if errors.Is(err, ErrCancelled) {
		ctx = d.byPerson(ctx)
	}
	d.p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.GaveUp, Text: err.Error()})
}

// choosing says whether a sale still waits for an answer.
func (d *Drive) choosing(ctx context.Context, key wire.Key) bool {
	row, err := d.j.Sale(ctx, key)
	return err == nil && row.State.Phase == checkout.Choosing
}

// answered checks an answer, and what the register has sent, against what was asked.
func answered(q Question, ans *Answer, req ecr.Request) (checkout.Pick, error) {
	pick, found := q.Offers[q.Default], ans.Method == ""
	for _, p := range q.Offers {
		if p.Method.Name == ans.Method && (ans.Trigger == "" || p.Trigger == ans.Trigger) {
			pick, found = p, true
			break
		}
	}
	ans.join(sent(req, pick))
	if p, ok := pick.ConsumerPrompt(); ok {
		ans.ConsumerID = ans.Answers[p.ID]
	}
	n := utf8.RuneCountInString(ans.ConsumerID)
	switch {
	case !found:
		return pick, fmt.Errorf("method %q was not offered", ans.Method)
	case pick.Manual() && (n == 0 || n > checkout.MaxAnswer):
		return pick, errors.New("the consumer's id is missing or too long")
	case q.NeedAmount && ans.Amount <= 0:
		return pick, errors.New("the amount is missing")
	case !q.NeedAmount:
		ans.Amount = q.Amount
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
		terms := d.terms(pick, asked)
		s, err = d.j.Transit(tx, row, checkout.Event{Name: checkout.Chosen, Terms: &terms})
		return err
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", key, err)
	}
	d.p.Do(s)
	return nil
}

// askLater begins the dialogue of a sale that was accepted. What is sent then is the deed of the
// register that asked for the sale.
func (d *Drive) askLater(ctx context.Context, a *accepting, row *journal.Row) {
	req := a.req
	req.Kind, req.Amount = row.Kind, row.Amount // a reversal need not name it, or names a part
	as := func(ctx context.Context) context.Context { return ctx }
	if peer, ok := ecr.PeerOf(ctx); ok {
		as = func(ctx context.Context) context.Context { return ecr.WithPeer(ctx, peer) }
	}
	d.p.Later(func(ctx context.Context) { d.ask(ctx, as, a.key, a.offers, a.pick, req) })
}

// chosenBack puts a refund or reversal that was answered into the outbox, in the commit that ends
// its dialogue.
func (d *Drive) chosenBack(ctx context.Context, key wire.Key, pick checkout.Pick, ans Answer) error {
	var s journal.Step
	err := d.db.Write(ctx, func(tx store.Tx) error {
		row, err := d.j.ByKey(tx, key)
		if err != nil {
			return err
		}
		orig, err := d.j.ByKey(tx, row.Original)
		if err != nil {
			return err
		}
		typ, ref, err := back(row.Kind, orig)
		if err != nil {
			return err
		}
		if s, err = d.j.Transit(tx, row, checkout.Event{Name: checkout.Chosen}); err != nil {
			return err
		}
		return d.j.SendForward(tx, row, orig, typ, ref, params(pick, ans))
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", key, err)
	}
	d.p.Do(s)
	d.p.Later(func(ctx context.Context) { d.p.Withdrawal(ctx, key) })
	return nil
}

// person says whether somebody can answer at the terminal now.
func (d *Drive) person() bool { return d.prompter != nil && d.prompter.Ready() }

// byPerson returns a context in which what is written is the deed of the person at the terminal.
func (d *Drive) byPerson(ctx context.Context) context.Context {
	if d.atTerminal == nil {
		return ctx
	}
	return d.atTerminal(ctx)
}
