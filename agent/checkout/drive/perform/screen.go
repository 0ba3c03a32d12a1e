package perform

import (
	"context"
	"fmt"
	"strings"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/qr"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Code turns a sale's payload into what can be shown. An EMV code is checked first, its amount and
// currency included where it has them.
func Code(row *journal.Row) (*qr.Code, error) {
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
func (p *Performer) showCode(ctx context.Context, row *journal.Row) {
	c, err := Code(row)
	if err != nil {
		p.log.Error("code not shown", "sale", row.Key, "error", err)
		p.ApplyWithRetry(ctx, row.Key, checkout.Event{Name: checkout.CodeBroken, Text: err.Error()})
		return
	}
	v := p.view(row, scene.Code)
	v.Code, v.From = c, p.now()
	v.Until = v.From.Add(checkout.CodeUntil(row.State) - p.boot())
	if p := row.Method.TriggerParams; p != nil && p.Qr != nil {
		v.PushText, v.Background = p.Qr.PushText, p.Qr.BgColor
	}
	p.screenMu.Lock()
	wanted := p.stillShown(ctx, row.Key) // read under the lock: what takes the code off comes after it
	if wanted && p.screen != nil {
		p.takeScreen(row.Key, false)
		err = p.screen.Show(v)
	}
	p.screenMu.Unlock()
	if err != nil {
		p.log.Error("screen", "sale", row.Key, "error", err)
	}
	if wanted && err == nil {
		p.progress(row.Key, ecr.StepShowCode)
	}
}

// showWaiting takes the code off the screen and says what the sale waits for.
func (p *Performer) showWaiting(row *journal.Row) {
	v := p.view(row, scene.Waiting)
	p.screenMu.Lock()
	now, err := p.j.Sale(context.Background(), row.Key) // read under the lock: what ends the sale clears the screen after it
	wanted := err == nil && now.State.AwaitingApp
	if wanted && p.mayShow(row.Key) {
		p.takeScreen(row.Key, false)
		p.show(v)
	}
	p.screenMu.Unlock()
	if wanted {
		p.progress(row.Key, ecr.StepApp)
	}
}

// ShowDialogue puts what a person is asked for on the screen; false where the sale does not wait for an answer any more.
func (p *Performer) ShowDialogue(key wire.Key, v display.View) bool {
	v.Sandbox, v.Language = p.cfg.Sandbox, p.cfg.Language
	p.screenMu.Lock()
	defer p.screenMu.Unlock()
	row, err := p.j.Sale(context.Background(), key) // read under the lock: what ends the dialogue comes after it
	if err != nil || row.State.Phase != checkout.Choosing {
		return false
	}
	p.takeScreen(key, false)
	p.show(v)
	return true
}

// showStart takes a dialogue off the screen, with what was typed there.
func (p *Performer) showStart(row *journal.Row) {
	kind := scene.Message
	if !row.State.QR {
		kind = scene.Waiting
	}
	p.screenMu.Lock()
	if p.onScreen == row.Key {
		p.show(p.view(row, kind))
	}
	p.screenMu.Unlock()
}

func (p *Performer) stillShown(ctx context.Context, key wire.Key) bool {
	shown := false
	err := p.db.Read(ctx, func(r store.Reader) error {
		row, err := p.j.ByKey(r, key)
		shown = err == nil && row.State.Shown
		return err
	})
	return err == nil && shown
}

func (p *Performer) view(row *journal.Row, kind scene.Kind) display.View {
	v := display.View{Kind: kind, Title: row.Method.Label, Amount: Amount(p.cfg.Language, row.Amount, row.Currency), Sandbox: p.cfg.Sandbox, Language: p.cfg.Language}
	if row.Kind == ecr.Payment {
		v.Of.Sale = string(row.Key)
	}
	return v
}

// mayShow says whether a sale may be shown that nobody has to look at: no other one is running on the screen. The caller holds
// screenMu, as for takeScreen.
func (p *Performer) mayShow(key wire.Key) bool {
	return p.onScreen == "" || p.onScreen == key || p.endShown
}

// takeScreen notes whose screen it is from now on; ended: it says how the sale ended.
func (p *Performer) takeScreen(key wire.Key, ended bool) { p.onScreen, p.endShown = key, ended }

// clearScreen takes the sale off the screen.
func (p *Performer) clearScreen(key wire.Key) {
	p.screenMu.Lock()
	defer p.screenMu.Unlock()
	if p.onScreen == key {
		p.takeScreen("", false)
		p.showIdle()
	}
}

func (p *Performer) show(v display.View) {
	if p.screen == nil {
		return
	}
	if err := p.screen.Show(v); err != nil {
		p.log.Error("screen", "error", err)
	}
}

// Idle shows that the terminal is ready, unless a sale is on the screen.
func (p *Performer) Idle() {
	p.screenMu.Lock()
	if p.onScreen == "" {
		p.showIdle()
	}
	p.screenMu.Unlock()
}

// showIdle shows whose terminal this is and that a sale may begin.
func (p *Performer) showIdle() {
	p.show(display.View{Kind: scene.Idle, Title: p.cfg.MerchantName, Sandbox: p.cfg.Sandbox, Language: p.cfg.Language})
}

// said is what the backend has said to the customer who paid, in one line.
func (p *Performer) said(s checkout.State) string {
	w := receipt.WordsFor(p.cfg.Language)
	var parts []string
	if s.Info != "" {
		parts = append(parts, s.Info)
	}
	for _, id := range s.Loyalty {
		parts = append(parts, w.Loyalty+" "+id)
	}
	if s.Payer != "" {
		parts = append(parts, w.Payer+" "+s.Payer)
	}
	return strings.Join(parts, ", ")
}

// showResult says how a payment ended, for a while.
func (p *Performer) showResult(row *journal.Row) {
	if row.Kind != ecr.Payment || p.screen == nil {
		return
	}
	v := p.view(row, scene.NotPaid)
	switch row.State.Result {
	case ecr.Approved:
		v.Kind, v.Text = scene.Paid, p.said(row.State)
	case ecr.Declined:
		v.Reason = scene.Declined
	default:
		v.Reason = scene.Cancelled
	}
	p.screenMu.Lock()
	may := p.mayShow(row.Key)
	if may {
		p.takeScreen(row.Key, true)
		p.show(v)
	}
	p.screenMu.Unlock()
	if !may {
		return
	}
	key := row.Key
	p.Later(func(ctx context.Context) {
		if Pause(ctx, resultOnScreen, nil) {
			p.clearScreen(key)
		}
	})
}
