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
	for other := range d.line.busy {
		if other != d && (other.phase == asking || other.phase == waiting) && (!named || other.ask.entry.key(&a.entry)) {
			return // it may be begun any moment: it is neither found nor lost
		}
	}
	last := ecr.Last{Gen: d.follow(polls), Line: d.at(a.entry.SaleID)}
	if named {
		last.Sequence = a.entry.prefix()
		if e := d.line.find(&a.entry); e != nil {
			last.Sequence = e.sequence()
		}
	}
	d.do(last)
}

// found answers a status with a sale that has ended; false where it is of another category.
func (d *dialogue) found(out ecr.Outcome) bool {
	a := d.ask
	e := d.line.sold(out.Sale)
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
	d.tell(out, object{
		"Response":         success(),
		"MessageReference": object{"MessageCategory": e.Category, "SaleID": e.SaleID, "ServiceID": e.Service},
		"RepeatedMessageResponse": object{
			"MessageHeader":               h.echo(),
			"RepeatedResponseMessageBody": object{e.Category + "Response": d.result(*e, out)},
		},
	})
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
	if d.reference() != nil || a.entry.Category != "Payment" {
		d.answer("200", nil)
		return
	}
	found := false
	for other := range d.line.busy {
		if (other.phase == asking || other.phase == waiting) && other.ask.entry.key(&a.entry) {
			found, other.ask.entry.Aborted = true, true
			for _, f := range other.follows {
				f.entry.Aborted = true
			}
		}
	}
	for sale, e := range d.line.running {
		if !e.key(&a.entry) || e.Category != "Payment" {
			continue
		}
		found = true
		if kept := d.line.sold(sale); kept != nil && !kept.Aborted {
			kept.Aborted = true
			d.do(ecr.Save{Profile: d.line.saved()})
		}
		d.do(ecr.Abort{Sale: sale})
	}
	if !found && len(d.line.running) == 0 { // it may run since before the terminal started again
		d.do(ecr.Last{Gen: d.follow(aborts), Line: d.at(a.entry.SaleID), Sequence: a.entry.prefix()})
	}
	d.answer("200", nil)
}
