package nexo

import (
	"cmp"
	"strconv"

	"posagent/ecr"
	"posagent/schemes/money"
)

// reconcile ends the day.
func (d *dialogue) reconcile(elsewhere bool) {
	a := d.ask
	switch kind := a.fields().word("ReconciliationType"); {
	case a.fault != nil:
		d.refuse(a.fault)
	case kind == "":
		d.refuse(a.fields().missing("ReconciliationType"))
	case kind == "PreviousReconciliation":
		d.enter(working)
		d.gen++
		d.do(ecr.ClosedDay{Gen: d.gen})
	case kind != "SaleReconciliation":
		d.refuse(fail(noService, "%.32s is not served by this terminal", kind))
	case elsewhere || len(d.line.running) > 0: // a day that was closed under its id is told whatever runs now: "busy" would be a no
		a.behind = true
		d.enter(working)
		d.gen++
		d.do(ecr.ClosedDay{Gen: d.gen, By: d.asker(a.h.sale, a.h.service)})
	default:
		d.enter(closing)
		d.gen++
		d.do(ecr.CloseBatch{Gen: d.gen, By: d.asker(a.h.sale, a.h.service), Patience: d.s.Patience})
	}
}

// asker names a Reconciliation, so that its answer can be asked for again.
func (d *dialogue) asker(sale, service string) ecr.Asker {
	return ecr.Asker{Line: d.at(sale), ID: service, Reuse: reuse}
}

// totalled answers GetTotals and Reconciliation.
func (d *dialogue) totalled(ev ecr.Totalled) {
	switch {
	case ev.Code == ecr.OK:
		d.answer("200", envelope(d.ask.h, d.totals(ev.Totals)))
	case d.ask.behind:
		d.busy()
	case ev.Code == "":
		d.refuse(fail(notFound, "no day was closed yet"))
	default:
		d.refuse(fail(notAllowed, "%s", ev.Code))
	}
}

// totals is the body of a GetTotalsResponse or ReconciliationResponse.
func (d *dialogue) totals(t ecr.Totals) object {
	o := object{"Response": success(), "POIReconciliationID": strconv.Itoa(t.Batch)}
	list := []any{}
	methods := t.Methods
	if len(methods) == 0 && t.Count > 0 { // a terminal that knows its sum alone
		methods = []ecr.MethodTotal{{Currency: t.Currency, Payments: t.Count, PaymentSum: t.Net}}
	}
	for _, m := range methods {
		currency := orElse(m.Currency, t.Currency)
		one := object{"PaymentInstrumentType": "Mobile", "PaymentCurrency": currency, "POIID": d.ask.h.poi}
		if m.Method != "" {
			one["CardBrand"] = m.Method
		}
		sums := []any{}
		add := func(kind string, count int, sum money.Minor) {
			if count > 0 {
				sums = append(sums, object{"TransactionType": kind, "TransactionCount": count, "TransactionAmount": amount(sum, currency)})
			}
		}
		add("Debit", m.Payments, m.PaymentSum)
		add("ReverseDebit", m.Refunds, m.RefundSum)
		one["PaymentTotals"] = sums
		list = append(list, one)
	}
	o["TransactionTotals"] = list
	if d.ask.h.category != "GetTotals" {
		o["ReconciliationType"] = cmp.Or(textAt(d.ask.body, "ReconciliationType"), "SaleReconciliation")
	}
	return o
}

// checked answers Login and Diagnosis.
func (d *dialogue) checked(ev ecr.Checked) {
	h := ev.Health
	global := "OK"
	switch {
	case h.Busy:
		global = "Busy"
	case h.Offline || !ev.OK:
		global = "Unreachable"
	case !h.Ready || h.NoMethods:
		global = "Maintenance"
	}
	status := object{"GlobalStatus": global, "CommunicationOKFlag": ev.OK && !h.Offline}
	o := object{"Response": success("firmwareVersion", "posagent "+d.s.Software)}
	if d.ask.h.category == "Login" {
		version := orElse(d.s.Software, "0")
		o["POISystemData"] = object{
			"DateTime": when(d.ask.now()), "POIStatus": status,
			"POISoftware": object{"ManufacturerID": "posagent", "ApplicationName": "posagent", "SoftwareVersion": version, "CertificationCode": "none"},
		}
	} else {
		o["POIStatus"] = status
		o["HostStatus"] = []any{object{"AcquirerID": "0", "IsReachableFlag": ev.OK && !h.Offline}}
	}
	d.answer("200", envelope(d.ask.h, o))
}
