package nexo

import (
	"cmp"

	"posagent/ecr"
)

// reference reads the MessageReference of a request. What it leaves out is that of the header.
func (d *dialogue) reference() *failure {
	a := d.ask
	ref := a.fields().object("MessageReference")
	a.kind = ref.word("MessageCategory")
	a.entry = entry{
		SaleID: cmp.Or(ref.word("SaleID"), a.h.sale), Service: ref.word("ServiceID"), Category: cmp.Or(a.kind, "Payment"), AtMS: a.nowMS,
	}
	poi := ref.word("POIID")
	switch {
	case a.fault != nil:
		return a.fault
	case a.entry.Service == "":
		return ref.missing("ServiceID")
	case poi != "" && poi != a.h.poi:
		return fail(notAllowed, "POIID %.64s is another terminal: this is %s", poi, a.h.poi)
	}
	return nil
}

// notThere says that an id is not known, once it was looked for a second time: the message that it is of
// may have come in on an earlier connection, and not have been taken up yet.
func (d *dialogue) notThere() {
	if a := d.ask; a.entry.Service != "" && !a.looked {
		a.looked = true
		d.do(ecr.StartTimer{Timer: lookTimer, Seq: d.turn, After: lookFor})
		return
	}
	d.do(ecr.StopTimer{Timer: pollTimer})
	d.refuse(unknown())
}

// unknown is said of an id under which nothing was ever accepted.
func unknown() *failure { return fail(notFound, "Message not found. No transaction has this id") }

// status asks for an earlier request, or for the till's last one.
func (d *dialogue) status() {
	a := d.ask
	named := a.fields().has("MessageReference")
	if named {
		if f := d.reference(); f != nil {
			d.refuse(f)
			return
		}
	} else {
		a.entry = entry{SaleID: a.h.sale, Category: "Payment", AtMS: a.nowMS}
	}
	if len(a.entry.Service) > maxService || len(a.entry.SaleID) > maxName {
		d.refuse(unknown())
		return
	}
	d.enter(polling)
	d.do(ecr.StartTimer{Timer: pollTimer, Seq: d.turn, After: pollFor})
	d.seek(named)
}

// seek looks for what a status names.
func (d *dialogue) seek(named bool) {
	a := d.ask
	for other := range d.line.busy {
		if other != d && (other.phase == asking || other.phase == waiting) && (!named || other.ask.entry.key(&a.entry)) {
			return // it may be begun any moment: it is neither found nor lost
		}
	}
	if a.kind == reconciliation {
		for other := range d.line.busy {
			if other.phase == closing && other.ask.h.sale == a.entry.SaleID && other.ask.h.service == a.entry.Service {
				return
			}
		}
		d.lookForDay()
		return
	}
	d.poll(named)
}

const reconciliation = "Reconciliation"

// lookForDay asks whether an id is that of a Reconciliation.
func (d *dialogue) lookForDay() {
	d.gen++
	d.do(ecr.ClosedDay{Gen: d.gen, By: d.asker(d.ask.entry.SaleID, d.ask.entry.Service)})
}

// closedDay answers a status with the day that a Reconciliation closed. Where it closed none, its id may be
// a payment's.
func (d *dialogue) closedDay(ev ecr.Totalled) {
	a := d.ask
	switch {
	case ev.Code == "" && a.kind == reconciliation && !a.dayless:
		a.dayless = true
		d.poll(true)
		return
	case ev.Code == "":
		d.notThere()
		return
	}
	d.do(ecr.StopTimer{Timer: pollTimer})
	if ev.Code != ecr.OK {
		d.refuse(fail(noService, "the terminal cannot say"))
		return
	}
	if a.kind != reconciliation {
		d.refuse(fail(badMessage, "ServiceID %s is that of a ReconciliationRequest: name this MessageCategory", a.entry.Service))
		return
	}
	h := header{class: "Service", category: reconciliation, service: a.entry.Service, sale: a.entry.SaleID, poi: a.h.poi, version: a.h.version}
	d.answer("200", envelope(a.h, repeated(h, d.totals(ev.Totals))))
}

// repeated is the body of a TransactionStatusResponse.
func repeated(h header, body object) object {
	return object{
		"Response":         success(),
		"MessageReference": object{"MessageCategory": h.category, "SaleID": h.sale, "ServiceID": h.service},
		"RepeatedMessageResponse": object{
			"MessageHeader":               h.echo(),
			"RepeatedResponseMessageBody": object{h.category + "Response": body},
		},
	}
}

// poll asks the desk for the sale that a status names.
func (d *dialogue) poll(named bool) {
	a := d.ask
	last := ecr.Last{Gen: d.follow(polls), Line: d.at(a.entry.SaleID)}
	if named {
		last.Sequence = a.entry.prefix() + ecr.AnyEnd
		if e := d.line.find(&a.entry); e != nil {
			last.Sequence = e.sequence()
		}
	}
	d.do(last)
}

// found answers a status with a sale that has ended; false where it is of another category.
func (d *dialogue) found(out ecr.Outcome) bool {
	a := d.ask
	e := d.line.find(&a.entry)
	if e == nil || e.Sale != out.Sale {
		e = d.line.sold(out.Sale)
	}
	if e == nil { // long ago: the journal has its outcome, and not all that the request said
		e = &entry{Sale: out.Sale, SaleID: a.entry.SaleID, Service: cmp.Or(a.entry.Service, "0"), Category: "Payment", Refund: out.Kind == ecr.Refund,
			Order: cmp.Or(a.entry.Service, "0"), Stamp: when(out.Time)}
		if out.Kind == ecr.Reversal || out.Kind == ecr.Refund && a.kind == "Reversal" {
			e.Category = "Reversal"
		}
	}
	if a.entry.Service != "" && e.Category != a.entry.Category {
		d.refuse(fail(badMessage, "ServiceID %s is that of a %sRequest: name this MessageCategory", e.Service, e.Category))
		return false
	}
	h := header{class: "Service", category: e.Category, service: e.Service, sale: e.SaleID, poi: a.h.poi, version: a.h.version}
	d.tell(out, repeated(h, d.result(*e, out)))
	return true
}

// tillAborted is what an aborted payment is answered.
func tillAborted() *failure {
	const text = "104 Merchant cancelled tx"
	return &failure{aborted, []string{"message", text, "refusalReason", text}}
}

// abort stops the payment that a till names. Its answer is empty, and says nothing of what it found.
func (d *dialogue) abort() {
	a := d.ask
	if d.reference() != nil {
		a.entry = entry{SaleID: a.h.sale, AtMS: a.nowMS}
	}
	switch named := a.entry.Service != ""; {
	case a.entry.Category == "Reversal": // it is carried out in any case
		d.do(ecr.Warn{Text: "abort of a reversal: nothing to abort"})
	case named && d.stop(a.entry.key):
	case named && d.line.find(&a.entry) != nil: // it has ended
	case named:
		d.line.early = append(d.line.early[max(0, len(d.line.early)+1-maxEarly):], a.entry)
		gen := d.follow(aborts)
		d.follows[gen].entry.SaleID = a.h.sale                                                        // whose own payment it may mean
		d.do(ecr.Last{Gen: gen, Line: d.at(a.entry.SaleID), Sequence: a.entry.prefix() + ecr.AnyEnd}) // it may run since before the terminal started again
	default:
		d.unmatched(a.entry)
	}
	d.answer("200", nil)
}

// stop aborts the payments in hand that only says, and reports whether there was one.
func (d *dialogue) stop(only func(*entry) bool) bool {
	found := false
	for other := range d.line.busy {
		if (other.phase == asking || other.phase == waiting) && only(&other.ask.entry) {
			found, other.ask.entry.Aborted = true, true
			for _, f := range other.follows {
				f.entry.Aborted = true
			}
		}
	}
	for sale, e := range d.line.running {
		if e.Category != "Payment" || !only(e) {
			continue
		}
		found = true
		if kept := d.line.sold(sale); kept != nil && !kept.Aborted {
			kept.Aborted = true
			d.do(ecr.Save{Profile: d.line.saved()})
		}
		d.do(ecr.Abort{Sale: sale})
	}
	return found
}

// unmatched takes an abort that names no payment. Tills exist that name their last status instead: from a
// SaleID that has one payment in hand it means that one.
func (d *dialogue) unmatched(e entry) {
	mine := func(o *entry) bool { return o.SaleID == e.SaleID && o.Category == "Payment" }
	if d.line.inHand(mine) == 1 {
		d.stop(mine)
		d.do(ecr.Warn{Text: "abort names no payment: the one of its SaleID is aborted"})
		return
	}
	d.do(ecr.Warn{Text: "abort names no payment: nothing was aborted"})
}
