package drive

import (
	"context"
	"fmt"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/device/display"
	"posagent/device/qr"
	"posagent/ecr"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// code turns a payload into what can be shown. An EMV code is checked first, its amount and currency included where it has them.
func code(row *journal.Row) (*qr.Code, error) {
	payload := row.State.Payload
	if methods.EMVQR(row.Method) {
		emv, err := qr.CheckEMV(payload)
		if err != nil {
			return nil, err
		}
		c, ok := money.Lookup(row.Currency)
		if !ok {
			return nil, fmt.Errorf("currency %s is not known", row.Currency)
		}
		if emv.Currency != c.Numeric {
			return nil, fmt.Errorf("the code asks for currency %d", emv.Currency)
		}
		if amount, ok := emv.Minor(c.Exponent); emv.Amount != "" && (!ok || amount != row.Amount) {
			return nil, fmt.Errorf("the code asks for %s", emv.Amount)
		}
	}
	return qr.New(payload, qr.Options{})
}

// showCode puts the code on the screen, unless it was taken off meanwhile.
func (d *Drive) showCode(ctx context.Context, row *journal.Row) {
	c, err := code(row)
	if err != nil {
		d.log.Error("code not shown", "sale", row.Key, "error", err)
		d.insist(ctx, row.Key, checkout.Event{Name: checkout.CodeBroken, Text: err.Error()})
		return
	}
	v := d.view(row)
	v.Code, v.Until = c, d.now().Add(checkout.CodeUntil(row.State)-d.boot())
	if p := row.Method.TriggerParams; p != nil && p.Qr != nil {
		v.PushText, v.Background = p.Qr.PushText, p.Qr.BgColor
	}
	d.screenMu.Lock()
	wanted := d.stillShown(ctx, row.Key) // read under the lock: what takes the code off comes after it
	if wanted && d.screen != nil {
		d.onScreen = row.Key
		err = d.screen.Show(v)
	}
	d.screenMu.Unlock()
	if err != nil {
		d.log.Error("screen", "sale", row.Key, "error", err)
	}
	if wanted && err == nil {
		d.progress(row.Key, stepShowCode)
	}
}

// showWaiting takes the code off the screen and says what the sale waits for.
func (d *Drive) showWaiting(row *journal.Row) {
	v := d.view(row)
	v.Text = appText(d.cfg.Language)
	d.screenMu.Lock()
	now, err := d.j.Sale(context.Background(), row.Key) // read under the lock: what ends the sale clears the screen after it
	wanted := err == nil && now.State.Veiled
	if wanted && (d.onScreen == "" || d.onScreen == row.Key) {
		d.onScreen = row.Key
		d.show(v)
	}
	d.screenMu.Unlock()
	if wanted {
		d.progress(row.Key, stepApp)
	}
}

func (d *Drive) stillShown(ctx context.Context, key wire.Key) bool {
	shown := false
	err := d.db.Read(ctx, func(r store.Reader) error {
		row, err := d.j.ByKey(r, key)
		shown = err == nil && row.State.Shown
		return err
	})
	return err == nil && shown
}

func (d *Drive) view(row *journal.Row) display.View {
	return display.View{Title: row.Method.Label, Amount: amountIn(d.cfg.Language, row.Amount, row.Currency), Sandbox: d.cfg.Sandbox, Language: d.cfg.Language}
}

// clearScreen takes the sale off the screen.
func (d *Drive) clearScreen(key wire.Key) {
	d.screenMu.Lock()
	defer d.screenMu.Unlock()
	if d.onScreen == key {
		d.onScreen = ""
		d.showIdle()
	}
}

func (d *Drive) show(v display.View) {
	if d.screen == nil {
		return
	}
	if err := d.screen.Show(v); err != nil {
		d.log.Error("screen", "error", err)
	}
}

// showIdle shows whose terminal this is and that a sale may begin.
func (d *Drive) showIdle() {
	d.show(display.View{
		Title: d.cfg.MerchantName, Text: words(d.cfg.Language, "Ready", "Bereit"),
		Sandbox: d.cfg.Sandbox, Language: d.cfg.Language,
	})
}

// showResult says how a payment ended, for a while.
func (d *Drive) showResult(row *journal.Row) {
	if row.Kind != ecr.Payment || d.screen == nil {
		return
	}
	v := d.view(row)
	switch row.State.Result {
	case ecr.Approved:
		v.Text = words(d.cfg.Language, "Paid. Thank you.", "Bezahlt. Vielen Dank.")
	case ecr.Declined:
		v.Text = words(d.cfg.Language, "Declined.", "Abgelehnt.")
	default:
		v.Text = words(d.cfg.Language, "Cancelled.", "Abgebrochen.")
	}
	d.screenMu.Lock()
	if d.onScreen != "" && d.onScreen != row.Key { // another sale has the screen
		d.screenMu.Unlock()
		return
	}
	d.onScreen = row.Key
	d.show(v)
	d.screenMu.Unlock()
	key := row.Key
	d.later(func(ctx context.Context) {
		if pause(ctx, resultOnScreen, nil) {
			d.clearScreen(key)
		}
	})
}
