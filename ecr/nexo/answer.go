package nexo

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
)

func success(pairs ...string) object {
	o := object{"Result": "Success"}
	if text := form(pairs...); text != "" {
		o["AdditionalResponse"] = text
	}
	return o
}

func (f *failure) response() object {
	o := object{"Result": "Failure", "ErrorCondition": f.condition}
	if text := form(f.pairs...); text != "" {
		o["AdditionalResponse"] = text
	}
	return o
}

// when writes a time in the one form that every library reads.
func when(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// now is when a request came.
func (a *ask) now() time.Time { return time.UnixMilli(a.nowMS) }

// id is a TransactionIdentification.
func id(text, stamp string) object { return object{"TransactionID": text, "TimeStamp": stamp} }

// failed is the body of a category for a request that is not done. It has what the typed libraries
// cannot do without.
func (d *dialogue) failed(f *failure) object {
	a := d.ask
	o := object{"Response": f.response()}
	device := func(part object) object {
		return object{"Device": cmp.Or(textAt(part, "Device"), "CustomerDisplay"), "InfoQualify": cmp.Or(textAt(part, "InfoQualify"), "Display"), "Response": o["Response"]}
	}
	switch a.h.category {
	case "Payment", "CardAcquisition":
		sale := objectAt(a.body, "SaleData", "SaleTransactionID")
		o["SaleData"] = object{"SaleTransactionID": id(textAt(sale, "TransactionID"), cmp.Or(textAt(sale, "TimeStamp"), when(a.now())))}
		fallthrough
	case "Reversal":
		o["POIData"] = object{"POITransactionID": id(cmp.Or(a.h.service, "0"), when(a.now()))}
	case "GetTotals":
		o["POIReconciliationID"] = "0"
	case "Reconciliation":
		o["ReconciliationType"] = cmp.Or(textAt(a.body, "ReconciliationType"), "SaleReconciliation")
	case "Print":
		o["DocumentQualifier"] = cmp.Or(textAt(a.body, "PrintOutput", "DocumentQualifier"), "Document")
	case "Display":
		list := []any{}
		outputs, _ := a.body["DisplayOutput"].([]any)
		for _, one := range outputs {
			part, _ := one.(object)
			list = append(list, device(part))
		}
		return object{"OutputResult": list}
	case "Input":
		return object{"InputResult": device(objectAt(a.body, "InputData"))}
	}
	return o
}

// result is the body of a PaymentResponse or ReversalResponse. It says the same whenever it is asked
// for.
func (d *dialogue) result(e entry, out ecr.Outcome) object {
	stamp := when(out.Time)
	o := object{"POIData": object{"POITransactionID": id(poiTransaction(out), stamp)}}
	if e.Category == "Payment" {
		o["SaleData"] = object{"SaleTransactionID": id(e.Order, cmp.Or(e.Stamp, stamp))}
	}
	if out.Result != ecr.Approved {
		o["Response"] = declined(e, out).response()
		return o
	}
	settling, kind := "", "GOODS_SERVICES"
	if out.Settling {
		settling = "true"
	}
	if out.Kind != ecr.Payment {
		kind = "REFUND"
	}
	o["Response"] = success("paymentMethod", out.Method, "pspReference", out.TransactionID, "merchantReference", e.Order, "transactionType", kind,
		"posAuthAmountValue", strconv.FormatInt(int64(out.Amount), 10), "posAuthAmountCurrency", out.Currency, "iso8601TxDate", stamp,
		"currency", out.Currency, "settling", settling)
	o["PaymentReceipt"] = []any{d.receipt(e, out, "CashierReceipt"), d.receipt(e, out, "CustomerReceipt")}
	if e.Category == "Reversal" {
		o["ReversedAmount"] = amount(out.Amount, out.Currency)
		return o
	}
	paid := "Normal"
	if e.Refund {
		paid = "Refund"
	}
	instrument := object{"PaymentInstrumentType": "Mobile"}
	if d.s.Brand {
		instrument["CardData"] = object{"PaymentBrand": out.Method, "EntryMode": []any{"Scanned"}}
	}
	acquirer := object{"MerchantID": cmp.Or(d.s.MerchantID, "0"), "AcquirerPOIID": cmp.Or(d.s.POIID, out.TerminalID, "0")}
	if out.TransactionID != "" {
		acquirer["AcquirerTransactionID"] = id(out.TransactionID, stamp)
	}
	o["PaymentResult"] = object{
		"PaymentType": paid, "OnlineFlag": true, "PaymentInstrumentData": instrument, "PaymentAcquirerData": acquirer,
		"AmountsResp": object{"Currency": out.Currency, "AuthorizedAmount": amount(out.Amount, out.Currency)},
	}
	return o
}

// poiTransaction is our name of a sale. A till names an original by it, or by either half.
func poiTransaction(out ecr.Outcome) string {
	name := fmt.Sprintf("PA%06d", out.Receipt)
	if out.Receipt == 0 { // nothing that could be taken back
		name = fmt.Sprintf("PN%06d-%.8s", out.Trace, out.Sale)
	} else if out.TransactionID != "" {
		name += "." + out.TransactionID
	}
	return name
}

// declined is why a sale that ended has no approval.
func declined(e entry, out ecr.Outcome) *failure {
	f := &failure{condition: refusal, pairs: []string{"message", orElse(out.Text, "DECLINED"), "refusalReason", orElse(out.Text, "Refused")}}
	switch {
	case out.Result == ecr.InProgress:
		return fail(inProgress, "%s", orElse(out.Text, "Uncompleted transaction"))
	case out.Code == ecr.NoConnection:
		f.condition = unreachable
	case out.Code == ecr.NoMethod:
		f.condition = restriction
	case out.Result == ecr.Declined:
	case e.Aborted:
		f = tillAborted()
	case out.Settling:
		f.condition = aborted
	default:
		const text = "108 Shopper cancelled tx"
		f = &failure{cancel, []string{"message", text, "refusalReason", text}}
	}
	if out.Settling {
		f.pairs = append(f.pairs, "settling", "true")
	}
	return f
}

// receipt is one receipt, a name and a value a line.
func (d *dialogue) receipt(e entry, out ecr.Outcome, which string) object {
	w := receipt.WordsFor(d.s.Language)
	name, done := w.Payment, w.Approved
	switch {
	case e.Category == "Reversal":
		name, done = w.Reversal, w.Reversed
	case out.Kind == ecr.Refund:
		name, done = w.Refund, w.Refunded
	}
	lines := []any{}
	add := func(key, name, value string) {
		text := "key=" + key
		if name != "" {
			text += "&name=" + escape(name)
		}
		if value != "" {
			text += "&value=" + escape(value)
		}
		lines = append(lines, object{"Text": text, "EndOfLineFlag": true})
	}
	add("header1", d.s.MerchantName, "")
	if which == "CashierReceipt" {
		add("merchantTitle", w.Merchant, "")
	}
	add("filler", "", "")
	add("txdate", "Date", out.Time.Format("02.01.2006"))
	add("txtime", "Time", out.Time.Format("15:04:05"))
	add("tid", w.Terminal, out.TerminalID)
	add("mid", "MID", d.s.MerchantID)
	add("txRef", w.Transaction, poiTransaction(out))
	add("mref", "Reference", e.Order)
	add("txtype", "Type", name)
	add("paymentMethod", "Method", receipt.Label(out))
	cur, _ := money.Lookup(out.Currency)
	add("totalAmount", w.Total, money.FormatIn(d.s.Language, out.Amount, cur))
	add("approved", done, "")
	return object{
		"DocumentQualifier": which, "RequiredSignatureFlag": false,
		"OutputContent": object{"OutputFormat": "Text", "OutputText": lines},
	}
}
