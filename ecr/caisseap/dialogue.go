package caisseap

import (
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Patience is how long a register waits for the answer, as long as the configuration does not say.
const Patience = 80 * time.Second

// Config is what the terminal is, and how this line is set up.
type Config struct {
	Currency string        // ISO 4217 alpha; "" = EUR
	Language string        // of the one text of an answer: "de…" German, "en…" English, else French
	Patience time.Duration // the answer leaves within; 0 = Patience
	// Identified says that the till gives each purchase a CF (or CH) of its own. The same one again is
	// then the same sale. Tills exist that send a constant.
	Identified bool
}

// dialogue is the terminal's side of one connection.
type dialogue struct {
	cfg      Config
	line     string
	currency money.Currency

	phase phase
	seq   int
	r     request
	sale  string // of the desk, "" as long as there is none
	open  bool   // the desk was asked, and what became of it has not come yet
	held  bool   // the desk takes its journal up
	gone  bool
	bad   bool         // bytes came behind the request
	no    bool         // the answer was not an approval
	told  ecr.Delivery // what the desk hears after the answer
	list  []ecr.Action // of the step
}

// gen is the number of the one thing that the desk is asked.
const gen = 1

// New begins the terminal's side of a connection.
func New(cfg Config, line string) ecr.Dialogue {
	cfg, cur := cfg.whole()
	return &dialogue{cfg: cfg, line: line, currency: cur}
}

// whole fills in what is left out.
func (c Config) whole() (Config, money.Currency) {
	if c.Patience <= 0 {
		c.Patience = Patience
	}
	cur, ok := money.Lookup(c.Currency)
	if !ok {
		cur, _ = money.Lookup("EUR")
	}
	return c, cur
}

// Holds implements ecr.Dialogue.
func (d *dialogue) Holds() bool { return d.phase >= asking && d.phase <= recording }

// Waits implements ecr.Dialogue.
func (d *dialogue) Waits() bool { return false }

// Settled implements ecr.Dialogue.
func (d *dialogue) Settled() bool { return d.phase == idle || d.phase == over }

// Shown implements ecr.Dialogue.
func (d *dialogue) Shown() bool { return true }

// Step implements ecr.Dialogue.
func (d *dialogue) Step(ev ecr.Event) []ecr.Action {
	d.list = nil
	switch ev := ev.(type) {
	case ecr.Received:
		switch table[bytesCame][d.phase] {
		case take:
			d.take(ev)
		case spoil:
			d.spoil()
		}
	case ecr.Begun:
		if ev.Gen == gen && d.sale == "" {
			d.sale = ev.Sale
			d.apply(saleBegun)
		}
	case ecr.Held:
		d.apply(saleHeld)
	case ecr.NotBegun:
		d.open = false
		if table[saleRefused][d.phase] == deny {
			d.deny(ev.Code)
		} else {
			d.apply(saleRefused)
		}
	case ecr.Ended:
		d.open = false
		switch table[saleEnded][d.phase] {
		case tell:
			d.tell(ev.Outcome)
		case give:
			d.give(ev.Outcome)
		}
	case ecr.Sent:
		if ev.Seq == d.seq && table[answerLeft][d.phase] == deliver {
			d.left(ev.OK)
		}
	case ecr.Recorded:
		if ev.Gen == gen {
			d.apply(lossRecorded)
		}
	case ecr.Fired:
		d.apply(deadline)
	case ecr.Gone:
		d.gone = true
		d.apply(registerGone)
	}
	return d.list
}

// apply performs the rules that need no more than the phase.
func (d *dialogue) apply(h happening) {
	switch table[h][d.phase] {
	case follow:
		d.phase = running
		if d.bad {
			d.abort()
		}
	case wait:
		d.held = true
	case abandon:
		d.abort()
	case give: // there is no sale
		if d.phase == leaving {
			d.end()
		}
	case finish:
		if d.told == "" && !d.gone { // an approval was undone first
			d.answer(d.r.denial(formatError))
			return
		}
		d.end()
	case late:
		d.late()
	case leave:
		d.do(ecr.StopTimer{})
		if d.sale != "" {
			d.abort()
		}
		d.phase = leaving
	}
}

func (d *dialogue) do(a ecr.Action) { d.list = append(d.list, a) }

// take reads the request and begins it.
func (d *dialogue) take(ev ecr.Received) {
	d.r = read(ev.Data, d.currency, d.cfg.Identified)
	switch {
	case d.r.no != "":
		d.answer(d.r.denial(d.r.no))
		return
	case d.r.action == identify:
		d.answer(d.r.answer(Field{"AE", done}))
		return
	case ev.Elsewhere && d.r.ask.Sequence == "" && d.r.ask.Kind == ecr.Payment: // what may repeat another needs no turn: the desk knows it again
		d.answer(d.r.denial(anotherRuns))
		return
	}
	req := d.r.ask
	req.Line, req.Patience = d.line+"/"+till(d.r.fields.Get("CA")), d.cfg.Patience
	d.phase, d.open = asking, true
	d.do(ecr.StartTimer{After: d.cfg.Patience})
	d.do(ecr.Begin{Gen: gen, Request: req})
}

// spoil ends what bytes behind the request make another request. A field that came late, such as CC
// for a cheque, changes what was asked for.
func (d *dialogue) spoil() {
	if d.phase == running && !d.bad {
		d.abort()
	}
	d.bad = true
}

// abort asks the desk to stop the sale: a payment nobody may be told of, or a refund that was never
// sent.
func (d *dialogue) abort() { d.do(ecr.Abort{Gen: gen, Sale: d.sale}) }

// answer sends the answer; the register has to read it and close.
func (d *dialogue) answer(data []byte) {
	d.phase = answering
	d.seq++
	d.do(ecr.StopTimer{})
	d.do(ecr.Send{Seq: d.seq, Data: data})
}

// hangUp closes the connection without an answer: any answer could be taken for a final one.
func (d *dialogue) hangUp() { d.answer(nil) }

// deny answers a refusal. A request with a name may repeat one that was paid: what says nothing of
// that one is no answer to it.
func (d *dialogue) deny(code ecr.Code) {
	switch {
	case d.phase == running, code == ecr.Resuming:
		d.hangUp()
	case d.r.ask.Sequence != "" && (code == ecr.NotReady || code == ecr.NotStored || code == ecr.SystemError):
		d.hangUp()
	case code == ecr.SystemError:
		d.answer(d.r.denial(timedOut))
	default:
		d.answer(d.r.denial(reason(code)))
	}
}

// tell answers the outcome. A payment that is approved with another amount than the request's is a
// fault, and one for bytes that were more than a request is undone.
func (d *dialogue) tell(out ecr.Outcome) {
	good, same := out.Result == ecr.Approved, out.Amount == d.r.ask.Amount
	if good && d.r.ask.Kind == ecr.Payment && (d.bad || !same) {
		d.phase = recording
		d.do(ecr.StopTimer{})
		d.do(ecr.Deliver{Gen: gen, Sale: d.sale, Delivery: ecr.Refused})
		return
	}
	d.told = out.Telling(ecr.Told)
	switch {
	case good && same:
		d.answer(d.r.approval(out))
	case out.Code == ecr.OnHold:
		d.answer(d.r.denial(heldText(d.cfg.Language)))
	case good, out.Result == ecr.InProgress:
		d.answer(d.r.denial(runningText(d.cfg.Language)))
	case d.bad:
		d.answer(d.r.denial(formatError))
	default:
		d.answer(d.r.denial(reason(out.Code)))
	}
}

// late answers before the register's patience ends, whatever the desk does: the journal may hang. A
// payment that is approved after that is undone.
func (d *dialogue) late() {
	switch {
	case d.phase == asking && (d.held || d.r.ask.Sequence != ""):
		d.hangUp()
	case d.r.ask.Kind == ecr.Payment:
		d.answer(d.r.denial(timedOut))
		d.no = true
	default:
		d.answer(d.r.denial(runningText(d.cfg.Language)))
		d.no = true
	}
	if d.sale != "" && d.r.ask.Kind == ecr.Payment {
		d.abort()
	}
}

// give tells the desk that an outcome was not told. A payment for which AE 01 went out is undone.
func (d *dialogue) give(out ecr.Outcome) {
	how := ecr.Lost
	if d.no && out.Result == ecr.Approved && d.r.ask.Kind == ecr.Payment {
		how = ecr.Refused
	}
	d.do(ecr.Deliver{Sale: d.sale, Delivery: out.Telling(how)})
	if d.phase == leaving {
		d.end()
	}
}

// left takes what the transport says of the answer.
func (d *dialogue) left(ok bool) {
	switch {
	case d.told != "":
		how := d.told
		if !ok && how == ecr.Told {
			how = ecr.Lost
		}
		d.phase = recording
		d.do(ecr.Deliver{Gen: gen, Sale: d.sale, Delivery: how})
	case d.open:
		d.phase = leaving
	default:
		d.end()
	}
}

// end: nothing is under way any more.
func (d *dialogue) end() {
	d.phase = over
	d.do(ecr.StopTimer{})
}
