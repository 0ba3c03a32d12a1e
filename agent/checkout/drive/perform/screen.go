package perform

import (
	"context"
	"errors"
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
	if errors.Is(err, display.ErrUnseen) {
		p.ApplyWithRetry(ctx, row.Key, checkout.Event{Name: checkout.CodeBroken, Text: unseen(err)})
	}
	if wanted && err == nil {
		p.progress(row.Key, ecr.StepShowCode)
	}
}

// unseen is why the customer cannot scan a code, without what else the screens have said.
func unseen(err error) string {
	for line := range strings.Lines(err.Error()) {
		if strings.Contains(line, display.ErrUnseen.Error()) {
			return strings.TrimSpace(line)
		}
	}
	return err.Error()
}

// pictured is the running sale that has the screen, and its picture.
type pictured struct {
	sale wire.Key
	kind scene.Kind // as picture has it; Message = its code, or a dialogue
}

// picture is what stands on the screen while a payment runs. ok is false for one that has an end, and
// while its code or its dialogue is there.
func picture(row *journal.Row) (kind scene.Kind, ok bool) {
	s := row.State
	if row.Kind != ecr.Payment || row.Held() || s.Result != "" || s.Shown {
		return 0, false
	}
	switch s.Phase {
	case checkout.Waiting:
		switch {
		case s.AwaitingApp && !s.Engaged:
			return scene.Code, true // which is no longer valid
		case !s.LastRead && (s.AwaitingApp || !s.QR):
			return scene.Waiting, true
		}
		return scene.Moment, true
	case checkout.Initializing, checkout.Aborting:
		return scene.Moment, true
	}
	return 0, false
}

// showRunning puts a payment on the screen as it stands, where that is not there yet. One that is
// being sent does not wait for the picture.
func (p *Performer) showRunning(row *journal.Row) {
	kind, ok := picture(row)
	if !ok || p.screen == nil {
		return
	}
	key, now := row.Key, p.pictured.Load()
	there := now != nil && now.sale == key
	switch {
	case there && now.kind == kind, !there && row.State.Phase == checkout.Aborting: // no customer stands before the screen
	case row.State.Phase == checkout.Initializing:
		p.Later(func(context.Context) { p.showNow(key) })
	default:
		p.showNow(key)
	}
}

// showNow puts a payment on the screen as the journal has it.
func (p *Performer) showNow(key wire.Key) {
	p.screenMu.Lock()
	defer p.screenMu.Unlock()
	row, err := p.j.Sale(context.Background(), key) // read under the lock: what ends the sale takes it off after it
	if err != nil || !p.mayShow(key) {
		return
	}
	kind, ok := picture(row)
	now := pictured{key, kind}
	if was := p.pictured.Load(); !ok || p.sales.GivenUp(key) || was != nil && *was == now {
		return
	}
	v := p.view(row, kind)
	if row.State.Phase == checkout.Aborting {
		v.Of.Sale = "" // there is nothing left to cancel
	}
	p.takeScreen(key, false)
	p.pictured.Store(&now)
	p.show(v)
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
func (p *Performer) takeScreen(key wire.Key, ended bool) {
	p.onScreen, p.endShown = key, ended
	p.pictured.Store(nil)
	if key != "" && !ended {
		p.pictured.Store(&pictured{sale: key})
	}
}

// leaveScreen takes a sale off the screen that is not running any more. How it ended stays.
func (p *Performer) leaveScreen(key wire.Key) {
	p.screenMu.Lock()
	ended := p.onScreen == key && p.endShown
	p.screenMu.Unlock()
	if !ended {
		p.clearScreen(key)
	}
}

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

// turn is a lock that may be held for as long as a screen takes: virtual time goes on for who waits for it.
type turn chan struct{}

// Lock waits for the turn.
func (t turn) Lock() { t <- struct{}{} }

// Unlock gives it to the next.
func (t turn) Unlock() { <-t }

// Faces takes what the screen shows where no sale is on it: scene.Idle, until it is called.
func (p *Performer) Faces(kind scene.Kind) {
	p.screenMu.Lock()
	defer p.screenMu.Unlock()
	if p.rests == kind {
		return
	}
	p.rests = kind
	if p.onScreen == "" {
		p.showIdle()
	}
}

// Idle shows how the terminal stands, unless a sale is on the screen.
func (p *Performer) Idle() {
	p.screenMu.Lock()
	if p.onScreen == "" {
		p.showIdle()
	}
	p.screenMu.Unlock()
}

// showIdle shows whose terminal this is, and whether a sale may begin.
func (p *Performer) showIdle() {
	p.show(display.View{Kind: p.rests, Title: p.cfg.MerchantName, Sandbox: p.cfg.Sandbox, Language: p.cfg.Language})
}

// said is what the backend has said to the customer who paid, in one line.
func (p *Performer) said(row *journal.Row) string {
	w, s := receipt.WordsFor(p.cfg.Language), row.State
	var parts []string
	if info := message(row); info != "" {
		parts = append(parts, info)
	}
	for _, id := range s.Loyalty {
		parts = append(parts, w.Loyalty+" "+id)
	}
	if s.Payer != "" {
		parts = append(parts, w.Payer+" "+s.Payer)
	}
	return strings.Join(parts, ", ")
}

// showResult says how a payment ended, for a while. It reports false where that is not shown.
func (p *Performer) showResult(row *journal.Row) bool {
	if row.Kind != ecr.Payment || p.screen == nil {
		return false
	}
	v := p.view(row, scene.NotPaid)
	switch s := row.State; {
	case s.Result == ecr.Approved:
		v.Kind, v.Text = scene.Paid, p.said(row)
	case s.Result == ecr.Declined:
		v.Reason = scene.Declined
	case s.Code == ecr.NoConnection:
		v.Kind = scene.NoConnection
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
		return false
	}
	key := row.Key
	p.Later(func(ctx context.Context) {
		if Pause(ctx, resultOnScreen, nil) {
			p.clearScreen(key)
		}
	})
	return true
}
