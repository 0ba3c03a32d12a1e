package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// The kinds of the payment links' writes, and of those of their transactions.
const (
	KindLinkCreate = "paylinks.create"
	KindLinkDelete = "paylinks.delete"
	KindTxnCharge  = "paylinks.charge"
	KindTxnCapture = "paylinks.capture"
	KindTxnRefund  = "paylinks.refund"
	KindTxnCancel  = "paylinks.cancel"
)

// picture is a transaction as two readings are compared.
type picture struct {
	ID     int64           `json:"id"`
	UUID   string          `json:"uuid"`
	Status paylinks.Status `json:"status"` // "" = it is not there
	Time   string          `json:"time"`
	Lang   string          `json:"lang"`
	PSP    string          `json:"psp"`
	Ref    string          `json:"ref"`
	Total  int64           `json:"total"` // hundredths
	Given  int64           `json:"given"` // went back so far, hundredths; -1 = the service does not say
	Later  []later         `json:"later,omitempty"`
	Cut    bool            `json:"cut,omitempty"` // there are more, or they cannot be told from others
}

// later is a transaction made after another.
type later struct {
	ID     int64           `json:"id"`
	Amount int64           `json:"amount"` // hundredths
	Ref    string          `json:"ref"`
	Status paylinks.Status `json:"status"`
	Kin    bool            `json:"kin,omitempty"`   // of the same link
	Maybe  bool            `json:"maybe,omitempty"` // it may be: the service does not say of which link it is
}

// held says that a transaction waits to be collected.
func held(s paylinks.Status) bool { return s == paylinks.Authorized || s == paylinks.Reserved }

// takePicture takes a picture of a transaction. One that is to be collected is taken with those that were made after it, because a
// service may show what was collected as a transaction of its own.
func (f *Front) takePicture(ctx context.Context, kind, id string) ([]byte, error) {
	n, err := linkID(kind, id)
	if err != nil {
		return nil, err
	}
	t, err := f.o.Transactions.Read(ctx, n)
	if wire.CodeOf(err) == wire.NotFound && kind == KindTxnCancel {
		return json.Marshal(picture{ID: n, Given: -1})
	}
	if err != nil {
		return nil, err
	}
	p := picture{ID: t.ID, UUID: t.UUID, Status: t.Status, Time: t.Time, Lang: t.Lang, PSP: t.PSP, Ref: t.ReferenceID, Given: -1}
	if i := t.Invoice; i != nil {
		p.Total = i.TotalAmount
		if i.RefundedAmount != nil {
			p.Given = *i.RefundedAmount
		}
	}
	if held(t.Status) && (kind == KindTxnCharge || kind == KindTxnCapture) {
		if p.Later, p.Cut, err = f.laterOf(ctx, t); err != nil {
			return nil, err
		}
	}
	return json.Marshal(p)
}

const (
	pageSize  = 100
	manyPages = 6 // then it is not known whether there are more
)

func (f *Front) laterOf(ctx context.Context, t paylinks.Transaction) (list []later, cut bool, err error) {
	at, err := time.Parse(paylinks.TimeLayout, t.Time)
	if err != nil {
		return nil, true, nil
	}
	by := paylinks.Filter{After: at.Add(-time.Second), Limit: pageSize}
	for range manyPages {
		page, err := f.o.Transactions.List(ctx, by)
		if err != nil {
			return nil, false, err
		}
		if len(page) == 0 {
			return list, false, nil
		}
		for _, o := range page {
			if o.ID == t.ID {
				continue
			}
			e := later{ID: o.ID, Ref: o.ReferenceID, Status: o.Status}
			e.Kin, e.Maybe = kin(t, o)
			if o.Invoice != nil {
				e.Amount = o.Invoice.TotalAmount
			}
			list = append(list, e)
		}
		by.Offset += int64(len(page)) // a page may be shorter than asked for and yet not the last
	}
	return list, true, nil
}

// kin says that two transactions are of the same link, or may be: a reference and a page may be those of many links.
func kin(a, b paylinks.Transaction) (yes, maybe bool) {
	var one, two int64
	if a.Invoice != nil && b.Invoice != nil {
		one, two = a.Invoice.PaymentRequestID, b.Invoice.PaymentRequestID
	}
	if one != 0 && two != 0 {
		return one == two, false
	}
	return false, a.ReferenceID != "" && a.ReferenceID == b.ReferenceID || a.PageUUID != "" && a.PageUUID == b.PageUUID
}

// charged compares for a charge or a capture (MONEY C.2): the transaction became confirmed with the amount asked for, or one that is
// confirmed, of its link, of that amount and with the charge's own reference was made beside it = done; it is as it was, and nothing was
// made beside it = not done. What a customer may have paid is neither.
func charged(was, is picture, body []byte, others []outbox.Op) found {
	var req paylinks.ChargeRequest
	if json.Unmarshal(body, &req) != nil || is.Status == "" {
		return unclear
	}
	want := was.Total
	if req.Amount != nil {
		want = *req.Amount
	}
	own := req.ReferenceID != "" && req.ReferenceID != was.Ref // no customer's payment carries it
	var made []later
	for _, e := range is.Later {
		old := slices.ContainsFunc(was.Later, func(o later) bool { return o.ID == e.ID })
		if !old && (e.Kin || e.Maybe) {
			made = append(made, e)
		}
	}
	same := is.Status == was.Status
	collected := slices.ContainsFunc(others, func(op outbox.Op) bool { return op.Kind == KindTxnCharge || op.Kind == KindTxnCapture })
	switch {
	case is.Given > max(was.Given, 0): // somebody has gone on with it
		return unclear
	case same && len(made) == 0 && !was.Cut && !is.Cut:
		return nothing
	case same && len(made) == 1 && held(was.Status):
		if e := made[0]; own && e.Kin && e.Ref == req.ReferenceID && e.Amount == want && e.Status == paylinks.Confirmed {
			return exactly
		}
	case held(was.Status) && is.Status == paylinks.Confirmed && len(made) == 0 && !collected:
		if is.Total == want && (req.ReferenceID == "" || is.Ref == req.ReferenceID) || is.Total == was.Total && own && is.Ref == req.ReferenceID { // a service may go on to tell what was reserved
			return exactly
		}
	}
	return unclear
}

// refunded compares for a refund: by what went back, where the service says it, else by the words.
func refunded(was, is picture, body []byte, others []outbox.Op) found {
	var req paylinks.RefundRequest
	if json.Unmarshal(body, &req) != nil || is.Status == "" {
		return unclear
	}
	sum, before := int64(0), false // what went back before, whatever the first reading showed
	for _, op := range others {
		if op.Kind == KindTxnRefund {
			sum, before = sum+op.AmountMin, true
		}
	}
	if was.Given >= 0 && was.Given < sum {
		was.Given = sum
		if was.Status == paylinks.Confirmed {
			was.Status = paylinks.PartiallyRefunded
		}
	}
	same, back := is.Status == was.Status, is.Status == paylinks.Refunded && was.Status != paylinks.Refunded
	whole := req.Amount == nil || *req.Amount == was.Total
	switch told := was.Given >= 0 && is.Given >= 0; {
	case told && same && is.Given == was.Given:
		return nothing
	case told && req.Amount != nil && is.Given-was.Given == *req.Amount, told && req.Amount == nil && back && is.Given > was.Given:
		return exactly
	case told, before && was.Status == paylinks.Confirmed:
		return unclear
	case same && was.Status == paylinks.Confirmed: // a part would show
		return nothing
	case back && (whole && was.Status == paylinks.Confirmed || req.Amount == nil && was.Status == paylinks.PartiallyRefunded):
		return exactly
	case is.Status == paylinks.PartiallyRefunded && was.Status == paylinks.Confirmed && !whole:
		return exactly
	}
	return unclear
}

// cancelled compares for a reservation that is given up: it became cancelled, or is not there any more. One that was cancelled before
// is what is asked for: the service answers the second as the first.
func cancelled(was, is picture, _ []byte, _ []outbox.Op) found {
	switch {
	case was.Status == paylinks.Cancelled && is.Status == paylinks.Cancelled:
		return exactly
	case is.Status == was.Status:
		return nothing
	case held(was.Status) && is.Status == "":
		return absent
	case held(was.Status) && is.Status == paylinks.Cancelled:
		return exactly
	}
	return unclear
}

// linkID reads the stored id of a link or a transaction.
func linkID(op, id string) (int64, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, &wire.Error{Code: wire.Internal, Op: op, Msg: "the stored id is not readable", Err: err}
	}
	return n, nil
}
