package nexo

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"posagent/ecr"
)

// ask is a request in hand.
type ask struct {
	h     header
	body  object
	nowMS int64

	entry   entry // of a money request, or the one that a status or an abort names
	request ecr.Request
	other   *ecr.Request // the refund that gives a whole payment back, where a reversal cannot
	receipt int          // a reversal's original, whose payment is read before it is begun; -1 = it was
	mine    bool         // the desk has this request already
	behind  bool         // another one runs on the line: one that is new is not begun
	named   string       // its transactionId, "" where the till leaves it out
	whole   bool         // a reversal of everything
	fault   *failure     // of a member that is not what the schema wants
	kind    string       // category that a status asks for
	dayless bool         // and its id is that of no Reconciliation
	looked  bool         // and it was looked for in vain
}

// fields reads the body.
func (a *ask) fields() fields {
	return fields{"SaleToPOIRequest." + a.h.category + "Request", a.body, &a.fault}
}

// money reads a payment, refund or reversal.
func (d *dialogue) money() *failure {
	a := d.ask
	data := a.fields().object("SaleData")
	transaction := data.object("SaleTransactionID")
	order := transaction.word("TransactionID")
	if len(order) > maxOrder {
		return fail(badMessage, "SaleTransactionID.TransactionID has at most %d bytes", maxOrder)
	}
	a.entry = entry{
		SaleID: a.h.sale, Service: a.h.service, Category: a.h.category, Order: order,
		Stamp: transaction.text("TimeStamp"), AtMS: a.nowMS,
	}
	if len(a.entry.Stamp) > maxName {
		return fail(badMessage, "SaleTransactionID.TimeStamp has at most %d bytes", maxName)
	}
	a.request = ecr.Request{
		Line: d.at(a.h.sale), Sequence: a.entry.sequence(), Currency: d.s.currency.Alpha, Reference: order, Patience: d.s.Patience, ByTCP: true, Reuse: reuse,
	}
	if a.h.category == "Reversal" {
		return d.reversal(data)
	}
	if order == "" {
		return transaction.missing("TransactionID")
	}
	return d.payment()
}

func (d *dialogue) payment() *failure {
	a := d.ask
	transaction := a.fields().object("PaymentTransaction")
	amounts := transaction.object("AmountsReq")
	currency := amounts.word("Currency")
	switch {
	case currency == "":
		return amounts.missing("Currency")
	case currency != d.s.currency.Alpha:
		return fail(notAllowed, "this terminal takes %s", d.s.currency.Alpha)
	}
	a.request.Amount = amounts.amount("RequestedAmount", d.s.currency)
	for _, name := range []string{"TipAmount", "CashBackAmount"} {
		if !amounts.nothing(name) {
			return fail(notAllowed, "%s is not taken here", name)
		}
	}
	conditions := transaction.object("TransactionConditions")
	if brands := conditions.words("AllowedPaymentBrand"); conditions.has("AllowedPaymentBrand") {
		if len(brands) != 1 || len(brands[0]) > maxName {
			return fail(restriction, "AllowedPaymentBrand: name one method, or leave it out")
		}
		a.request.Method = brands[0]
	}
	switch kind := a.fields().object("PaymentData").word("PaymentType"); kind {
	case "", "Normal":
		a.request.Kind = ecr.Payment
		return nil
	case "Refund":
		a.request.Kind, a.entry.Refund = ecr.Refund, true
		if !transaction.has("OriginalPOITransaction") {
			return nil // the desk allows it or not
		}
		of := transaction.object("OriginalPOITransaction").object("POITransactionID")
		id := of.word("TransactionID")
		if id == "" {
			return of.missing("TransactionID")
		}
		receipt, named, ok := original(id)
		if !ok {
			return unknownOriginal(id)
		}
		a.request.Original = nameOf(receipt, named)
		return nil
	default:
		return fail(noService, "PaymentType %.32s is not served by this terminal", kind)
	}
}

func (d *dialogue) reversal(data fields) *failure {
	a, body := d.ask, d.ask.fields()
	if c := currencyIn(data); c != "" && c != d.s.currency.Alpha {
		return fail(notAllowed, "this terminal takes %s", d.s.currency.Alpha)
	}
	of := body.object("OriginalPOITransaction").object("POITransactionID")
	id := of.word("TransactionID")
	if id == "" {
		return of.missing("TransactionID")
	}
	receipt, named, ok := original(id)
	if !ok {
		return unknownOriginal(id)
	}
	a.receipt, a.named, a.whole = receipt, named, !body.has("ReversedAmount")
	if !a.whole {
		a.request.Amount = body.amount("ReversedAmount", d.s.currency)
	}
	a.request.Kind, a.request.Original = ecr.Refund, nameOf(receipt, named)
	if a.whole && receipt == 0 {
		return fail(notFound, "send the whole POITransactionID, or ReversedAmount")
	}
	return nil
}

func unknownOriginal(id string) *failure { return fail(notFound, "%.64q names no payment", id) }

// ours is a POITransactionID of this terminal: "PA000017.4711", or either half of it alone.
var ours = regexp.MustCompile(`^(?:PA([0-9]{1,6})(?:\.([0-9A-Za-z]{1,32}))?|(?:[0-9A-Za-z]*\.)?([0-9A-Za-z]{1,32}))$`)

// original takes a POITransactionID apart: the receipt number and the transactionId.
func original(id string) (receipt int, named string, ok bool) {
	m := ours.FindStringSubmatch(id)
	if m == nil {
		return 0, "", false
	}
	receipt, _ = strconv.Atoi(m[1])
	return receipt, m[2] + m[3], true
}

// nameOf is an original as the desk is told it.
func nameOf(receipt int, named string) string {
	if named != "" {
		return "T" + named
	}
	return "R" + strconv.Itoa(receipt)
}

// currencyIn reads the currency of SaleToAcquirerData: form text, or base64 of a JSON object.
func currencyIn(data fields) string {
	text := data.text("SaleToAcquirerData")
	if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
		if o, err := parse(plain); err == nil {
			return fields{data.path + ".SaleToAcquirerData", o, data.fault}.word("currency")
		}
	}
	values, err := url.ParseQuery(text)
	if err != nil {
		return ""
	}
	return values.Get("currency")
}

// notOurs is said of an original that the journal does not have.
const notOurs = "this terminal has not sold it: the one that has sold it must give the money back"

// begin takes a money request while other connections may have one. What was taken before is told whatever
// runs now: "busy" would be a no.
func (d *dialogue) begin(elsewhere bool) {
	if !elsewhere {
		d.look()
		return
	}
	wait := true
	for other := range d.line.busy {
		switch other.phase {
		case asking, running, waiting:
			if other.ask.entry.same(&d.ask.entry) { // the desk joins the two
				d.look()
				return
			}
			wait = wait && other.phase == waiting
		case closing:
			wait = false
		}
	}
	if !wait {
		d.ask.behind = true
		d.look()
		return
	}
	d.enter(waiting)
	d.do(ecr.StartTimer{Timer: waitTimer, Seq: d.turn, After: waitFor})
}

// busy says which request is in hand.
func (d *dialogue) busy() {
	service, dialogue := "", "PaymentRequest"
	for other := range d.line.busy {
		if other != d && (other.phase == asking || other.phase == running || other.phase == closing) {
			service, dialogue = other.ask.h.service, other.ask.h.category+"Request"
		}
	}
	for _, e := range d.line.running {
		if service == "" {
			service, dialogue = e.Service, e.Category+"Request"
		}
	}
	d.refuse(&failure{busy, []string{"message", "Forbidden Request, Service Dialogue " + dialogue + " is in Progress", "serviceId", service}})
}

// look reads whether a request was taken before: what was done under its ids is told again, whatever has
// become of its original since. Whether its ServiceID may name another request by now, the desk says.
func (d *dialogue) look() {
	d.enter(asking)
	a := d.ask
	if slices.ContainsFunc(d.line.recent, func(e entry) bool { return e.same(&a.entry) }) {
		d.looked(true)
		return
	}
	d.do(ecr.Last{Gen: d.follow(looks), Line: a.request.Line, Sequence: a.request.Sequence})
}

// looked goes on once it is known whether the desk has the request already: a reversal reads its
// payment before it is begun.
func (d *dialogue) looked(mine bool) {
	a := d.ask
	a.mine = mine
	if a.behind && !mine {
		d.busy()
		return
	}
	if a.receipt > 0 && a.h.category == "Reversal" {
		d.do(ecr.Last{Gen: d.follow(reads), Receipt: a.receipt, Transaction: a.named})
		return
	}
	d.ready()
}

// ready begins the request. One that was aborted meanwhile begins nothing: what the desk has of it already, an
// abort may be too late for.
func (d *dialogue) ready() {
	switch a := d.ask; {
	case a.entry.Aborted && !a.mine:
		d.refuse(tillAborted())
		return
	case a.entry.Aborted:
		a.request.Repeat = true
	}
	d.do(ecr.Begin{Gen: d.follow(begins), Request: d.ask.request})
}

func (d *dialogue) begun(ev ecr.Begun) {
	f := d.follows[ev.Gen]
	if f == nil {
		return
	}
	f.sale = ev.Sale
	mine := ev.Gen == d.gen
	switch f.step {
	case begins:
		f.entry.Sale = ev.Sale
		d.line.running[ev.Sale] = &f.entry
		d.line.add(f.entry)
		if f.entry.Aborted {
			d.do(ecr.Abort{Sale: ev.Sale})
		}
		d.do(ecr.Save{Profile: d.line.saved()})
		if mine && d.phase == asking {
			d.enter(running)
			d.send(accepted, nil)
		}
	case looks:
		if mine && d.phase == asking {
			d.looked(true)
		}
	case aborts:
		d.do(ecr.Abort{Sale: ev.Sale})
	}
}

func (d *dialogue) notBegun(ev ecr.NotBegun) {
	f := d.follows[ev.Gen]
	if f == nil {
		return
	}
	delete(d.follows, ev.Gen)
	if f.step == begins {
		delete(d.line.running, f.sale)
	}
	if f.step == aborts {
		if ev.Code == "" {
			d.unmatched(f.entry)
		}
		return
	}
	if ev.Gen != d.gen || d.phase == idle {
		return
	}
	switch {
	case f.step == polls && d.phase == polling:
		if ev.Code == "" && !d.ask.dayless && d.ask.entry.Service != "" { // it may be a Reconciliation's
			d.lookForDay()
			return
		}
		if ev.Code == "" {
			d.notThere()
			return
		}
		d.do(ecr.StopTimer{Timer: pollTimer})
		d.refuse(fail(noService, "%s", orElse(ev.Text, "the terminal cannot say")))
	case d.phase == running: // the desk is closing: how the sale ends is not known yet
		d.answer(hangUp, nil)
	case d.phase != asking:
	case f.step == looks:
		d.ask.mine = ev.Code != "" && ev.Text == ""                                 // it may be: the journal was not read
		d.ask.entry.Aborted = d.ask.entry.Aborted || d.line.overtaken(&d.ask.entry) // nothing is known under its id
		d.looked(d.ask.mine)
	case f.step == reads:
		d.unread(notFound, orElse(ev.Text, notOurs))
	case d.ask.other != nil && (ev.Code == ecr.NotReversible || ev.Code == ecr.Processing || ev.Code == ecr.Replaced && d.ask.named != ""):
		d.ask.request, d.ask.other = *d.ask.other, nil
		d.ready()
	case ev.Code == "" && d.ask.entry.Aborted: // it is not there, and was not begun
		d.refuse(tillAborted())
	default:
		d.rejected(ev)
	}
}

// rejected answers a request that the desk did not accept.
func (d *dialogue) rejected(ev ecr.NotBegun) {
	condition := notAllowed
	switch ev.Code {
	case ecr.Busy:
		d.busy()
		return
	case ecr.SystemError, "": // it may have been accepted: the till has to ask
		d.answer(hangUp, nil)
		return
	case ecr.NotStored, ecr.NotReady:
		if d.ask.mine { // likewise: it may have ended well long ago
			d.answer(hangUp, nil)
			return
		}
		condition = noService
	case ecr.StillRunning: // under another id
		condition = inProgress
	case ecr.NoMethod:
		condition = restriction
	case ecr.NoConnection:
		condition = unreachable
	case ecr.NotReversible:
		if d.ask.receipt == 0 {
			condition = notFound
		}
	}
	d.refuse(fail(condition, "%s", orElse(ev.Text, string(ev.Code))))
}

func (d *dialogue) ended(ev ecr.Ended) {
	f := d.follows[ev.Gen]
	if f == nil {
		return
	}
	delete(d.follows, ev.Gen)
	if f.step == begins {
		delete(d.line.running, f.sale)
	}
	mine := ev.Gen == d.gen
	switch {
	case f.step == begins && mine && d.phase == running:
		if e := d.line.sold(f.sale); e != nil {
			f.entry = *e
		}
		d.tell(ev.Outcome, d.result(f.entry, ev.Outcome))
		return
	case f.step == polls && mine && d.phase == polling:
		d.do(ecr.StopTimer{Timer: pollTimer})
		if d.found(ev.Outcome) {
			return
		}
	case f.step == reads:
		if mine && d.phase == asking {
			d.originalRead(ev.Outcome)
		}
		return // it was read, not told
	}
	d.do(ecr.Deliver{Sale: ev.Outcome.Sale, Delivery: ev.Outcome.Telling(ecr.Lost)})
}

// originalRead makes the request of a reversal whose payment is known. A receipt number comes again
// after years: the transactionId has to fit.
func (d *dialogue) originalRead(out ecr.Outcome) {
	a := d.ask
	switch {
	case out.Code == ecr.OnHold:
		d.unread(notAllowed, out.Text)
		return
	case a.named != "" && a.named != out.TransactionID:
		d.unread(notFound, notOurs)
		return
	}
	if a.whole || a.request.Amount == out.Amount {
		refund := a.request
		refund.Amount = out.Amount
		refund.Original = nameOf(a.receipt, out.TransactionID)
		a.other = &refund
		a.request.Kind, a.request.Receipt, a.request.Original = ecr.Reversal, a.receipt, ""
		if a.named != "" { // its transaction says which one is meant
			a.request.Amount = out.Amount
		}
	}
	a.receipt = -1 // the original is known: what is wrong now is not that
	d.ready()
}

// unread answers a reversal whose payment cannot be read. One that the desk has already is told again
// by what it says of that payment itself.
func (d *dialogue) unread(condition, text string) {
	a := d.ask
	if !a.mine {
		d.refuse(fail(condition, "%s", text))
		return
	}
	part := a.request
	part.Repeat = true
	whole := part
	whole.Kind, whole.Receipt, whole.Original = ecr.Reversal, a.receipt, ""
	a.request, a.other, a.receipt = whole, &part, -1
	d.ready()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
