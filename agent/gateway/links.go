package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"posagent/agent/outbox"
	"posagent/schemes/money"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// maxFiles is how many bytes of attachments of one link are stored.
const maxFiles = 64 << 10

// bulky is why a create with more of them is not.
var bulky = fmt.Sprintf("its attachments are above %d KiB", maxFiles>>10)

// Links is the link half of the payment-link service that stores what the backend does not take.
func (f *Front) Links() paylinks.Links { return linkFront{f} }

// Transactions is the transaction half.
func (f *Front) Transactions() paylinks.Transactions { return transactionFront{f} }

// linkFront and transactionFront implement the contract. They write out every method: a new one must not pass the outbox by.
type linkFront struct{ f *Front }

type transactionFront struct{ f *Front }

var (
	_ paylinks.Links        = linkFront{}
	_ paylinks.Transactions = transactionFront{}
)

// linkBody is a create as it is stored. Contents of attachments stand beside it, in their order, where they are stored at all.
type linkBody struct {
	paylinks.CreateRequest
	Contents [][]byte `json:"contents,omitempty"`
}

// Create implements paylinks.Links.
func (l linkFront) Create(ctx context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Created{}, err
	}
	f := l.f
	w := write{row: f.rows[KindLinkCreate], key: key, currency: req.Currency}
	cur, _ := money.Lookup(req.Currency)
	amount, err := money.FromHundredths(req.Amount, cur)
	if err != nil { // Validate knows better
		return paylinks.Created{}, &wire.Error{Code: wire.Invalid, Op: w.row.Kind, Err: err}
	}
	w.amount = int64(amount)
	body := linkBody{CreateRequest: req}
	if w.same, err = json.Marshal(body); err != nil {
		return paylinks.Created{}, wire.Errorf(wire.Invalid, w.row.Kind, "request cannot be written")
	}
	size := int64(0)
	for _, a := range req.Attachments {
		size += a.Size
	}
	if w.keep = w.same; size > maxFiles {
		w.part, w.why = true, bulky
		defer f.lend(req.Attachments)()
	} else if size > 0 {
		if body.Contents, err = contents(req.Attachments); err == nil {
			w.keep, err = json.Marshal(body)
		}
		if err != nil {
			return paylinks.Created{}, &wire.Error{Code: wire.Internal, Op: w.row.Kind, Msg: "attachments cannot be read", Err: err}
		}
	}
	w.body = w.keep
	link := linkOf(req)
	link.CreatedAt = f.o.Now().Unix()
	maskOwn(&link) // what is shown here is stored in clear; the request itself is sealed
	if w.seen, err = json.Marshal(link); err != nil {
		return paylinks.Created{}, wire.Errorf(wire.Invalid, w.row.Kind, "request cannot be written")
	}
	a, err := f.do(ctx, w)
	if err != nil {
		return paylinks.Created{}, err
	}
	if a.pending == nil && len(a.body) > 0 {
		var out paylinks.Created
		err := readAnswer(w.row, a, &out)
		for masked, own := range map[*string]string{&out.ReferenceID: req.ReferenceID, &out.SKU: req.SKU} { // the caller's, which it knows
			if *masked == wire.MaskReference(own) {
				*masked = own
			}
		}
		return out, err
	}
	link.ID, err = strconv.ParseInt(a.local, 10, 64)
	return paylinks.Created{Link: link, Operation: a.pending}, err
}

// maskOwn masks the names that a caller chose for a link.
func maskOwn(l *paylinks.Link) {
	for _, s := range [...]*string{&l.ReferenceID, &l.SKU} {
		*s = wire.MaskReference(*s)
	}
}

// linkOf is a link as its request describes it, before anybody has made it.
func linkOf(req paylinks.CreateRequest) paylinks.Link {
	reserved := paylinks.Bit(req.Reservation)
	l := paylinks.Link{
		Status: paylinks.Waiting, ReferenceID: req.ReferenceID, PreAuthorization: paylinks.Bit(req.PreAuthorization), Reservation: &reserved,
		Name: req.Name, API: true, Fields: fieldsOf(req.Fields), PM: append([]string{}, req.PM...), Purpose: req.Purpose, Amount: req.Amount,
		VatRate: req.VatRate, Currency: req.Currency, SKU: req.SKU, SubscriptionState: req.SubscriptionState,
		SubscriptionInterval: req.SubscriptionInterval, SubscriptionPeriod: req.SubscriptionPeriod,
		SubscriptionPeriodMinAmount:      paylinks.Cents(req.SubscriptionPeriodMinAmount),
		SubscriptionCancellationInterval: req.SubscriptionCancellationInterval,
	}
	if len(req.PSP) > 0 {
		l.PSP = paylinks.Provider(req.PSP[0])
	}
	return l
}

// fieldsOf is what a request says about contact fields, as a link shows it.
func fieldsOf(asked map[string]paylinks.Contact) (out paylinks.Fields) {
	shown := make(map[string]paylinks.CustomField, len(asked))
	for name, c := range asked {
		f := paylinks.CustomField{Active: c.Active == nil || *c.Active, Mandatory: c.Mandatory}
		if c.Names != nil {
			f.Names = *c.Names
		}
		shown[name] = f
	}
	data, err := json.Marshal(shown)
	if err == nil {
		err = json.Unmarshal(data, &out) // by the names that both have
	}
	if err != nil {
		return paylinks.Fields{}
	}
	return out
}

// contents reads small attachments.
func contents(files []paylinks.Attachment) ([][]byte, error) {
	all := make([][]byte, len(files))
	for i, a := range files {
		r, err := a.Open()
		if err != nil {
			return nil, err
		}
		all[i], err = io.ReadAll(io.LimitReader(r, a.Size+1))
		_ = r.Close() // it was read only
		if err == nil && int64(len(all[i])) != a.Size {
			err = fmt.Errorf("attachment %d is not as long as it says", i+1)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// lend lets sends read files as long as their caller waits. Call what it returns when he does not any more.
func (f *Front) lend(files []paylinks.Attachment) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lent = append(f.lent, files...)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, gone := range files {
			for i, a := range f.lent {
				if a.SHA256 == gone.SHA256 && a.Size == gone.Size { // of two that are the same either may go: both callers wait, or neither
					f.lent = append(f.lent[:i:i], f.lent[i+1:]...)
					break
				}
			}
		}
	}
}

// opened gives a stored request its attachments back.
func (f *Front) opened(b linkBody) (paylinks.CreateRequest, error) {
	req := b.CreateRequest
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range req.Attachments {
		a := &req.Attachments[i]
		if i < len(b.Contents) {
			data := b.Contents[i]
			a.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
			continue
		}
		for _, l := range f.lent {
			if l.SHA256 == a.SHA256 && l.Size == a.Size {
				a.Open = l.Open
			}
		}
		if a.Open == nil {
			return req, wire.Errorf(wire.Unavailable, KindLinkCreate, "nobody waits for it any more, and its attachments went with him")
		}
	}
	return req, nil
}

// Delete implements paylinks.Links. A link that was not sent yet is sent first, and taken back after it.
func (l linkFront) Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	_, known, err := l.f.findLink(ctx, KindLinkDelete, id)
	if err == nil {
		err = l.f.unsold(ctx, KindLinkDelete, id, known)
	}
	a, err := l.f.act(ctx, KindLinkDelete, key, id, 0, struct{}{}, err)
	if err != nil {
		return paylinks.Deleted{}, err
	}
	return paylinks.Deleted{ID: id, Operation: a.pending}, err
}

// findLink looks a link up. wire.NotFound where the id is one of ours that was never given.
func (f *Front) findLink(ctx context.Context, op string, id int64) (t thing, known bool, err error) {
	if err := paylinks.CheckID(id); err != nil {
		return t, false, err
	}
	err = f.o.DB.Read(ctx, func(r store.Reader) (err error) {
		if t, known, err = f.findThing(r, "link", strconv.FormatInt(id, 10)); err == nil {
			_, err = f.ownerOf(r, op, "link", strconv.FormatInt(id, 10), t, known, wire.CallerOf(ctx))
		}
		if err == nil && !known && id >= paylinks.FirstLocalID {
			err = f.lost(r, op, linkThing, "no such id was given here")
		}
		if err == nil && op != KindLinkDelete { // a write under a known key has its answer
			err = t.elsewhere(op)
		}
		return err
	})
	if err != nil {
		err = unread(op, err)
	}
	return t, known, err
}

// Read implements paylinks.Links, by the local id or the backend's: the backend's own answer once it knows the link, for only it
// knows whether it was paid; before that, the link as it was asked for, without hash and address. A delete that the backend has not
// answered stands beside it: the link can be paid until then.
func (l linkFront) Read(ctx context.Context, id int64) (paylinks.Link, error) {
	const op = "paylinks.read"
	asked := id
	t, known, err := l.f.findLink(ctx, op, id)
	switch {
	case err != nil:
		return paylinks.Link{}, err
	case known && t.backend == "":
		return l.unmade(ctx, op, id, t)
	}
	ops, err := l.f.openOn(ctx, op, linkThing, strconv.FormatInt(id, 10), t, known)
	if err != nil {
		return paylinks.Link{}, err
	}
	if known {
		if id, err = strconv.ParseInt(t.backend, 10, 64); err != nil {
			return paylinks.Link{}, &wire.Error{Code: wire.Internal, Op: op, Err: err}
		}
	}
	link, err := l.f.o.Links.Read(ctx, id)
	link.ID = asked // whichever of its ids that is
	link.Operation = l.f.newest(ops)
	if err == nil && known {
		err = l.f.keepTransactions(ctx, op, t, link)
	}
	return link, err
}

// unmade shows a link that the backend does not know yet, or never will.
func (l linkFront) unmade(ctx context.Context, op string, id int64, t thing) (out paylinks.Link, err error) {
	if l.f.box == nil {
		return out, wire.Errorf(wire.Unavailable, op, "the terminal is starting")
	}
	var e end
	err = l.f.o.DB.Read(ctx, func(r store.Reader) (err error) { _, e, err = l.f.madeBy(r, t); return err })
	var ops []outbox.Op
	if err == nil {
		ops, err = l.f.openOn(ctx, op, linkThing, t.local, t, true)
	}
	if err == nil {
		err = json.Unmarshal([]byte(t.seen), &out)
	}
	if err != nil {
		return paylinks.Link{}, &wire.Error{Code: wire.Internal, Op: op, Err: err}
	}
	switch e.State {
	case outbox.Failed:
		out.Status = paylinks.Declined
	case outbox.Expired:
		out.Status = paylinks.Expired
	}
	if out.Operation = l.f.newest(ops); e.State != "" {
		out.Operation = e.mark(t.key)
	}
	out.ID = id
	return out, nil
}

// act does one operation on a link or a transaction; refusal is why nothing new is taken.
func (f *Front) act(ctx context.Context, kind string, key wire.Key, id, amount int64, req any, refusal error) (answer, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return answer{}, wire.Errorf(wire.Invalid, kind, "request cannot be written")
	}
	return f.do(ctx, write{
		row: f.rows[kind], key: key, id: strconv.FormatInt(id, 10), body: body, keep: body, same: body, amount: amount, refusal: refusal,
	})
}

// checkTransactionID checks the id of a transaction: it is the backend's, since customers make them there.
func checkTransactionID(op string, id int64) error {
	if err := paylinks.CheckID(id); err != nil {
		return err
	}
	if id >= paylinks.FirstLocalID {
		return wire.Errorf(wire.NotFound, op, "no transaction has such an id")
	}
	return nil
}

// Read implements paylinks.Transactions.
func (c transactionFront) Read(ctx context.Context, id int64) (paylinks.Transaction, error) {
	const op = "paylinks.transaction"
	if err := checkTransactionID(op, id); err != nil {
		return paylinks.Transaction{}, err
	}
	if caller := wire.CallerOf(ctx); caller.Own {
		if err := c.f.reachTransaction(ctx, op, id); err != nil {
			return paylinks.Transaction{}, err
		}
	}
	return c.f.o.Transactions.Read(ctx, id)
}

// List implements paylinks.Transactions: it is the backend's. What is stored here makes no transactions.
func (c transactionFront) List(ctx context.Context, by paylinks.Filter) ([]paylinks.Transaction, error) {
	if err := wire.Everything(ctx, "paylinks.list", "list the account's transactions"); err != nil {
		return nil, err
	}
	return c.f.o.Transactions.List(ctx, by)
}

// Charge implements paylinks.Transactions.
func (c transactionFront) Charge(ctx context.Context, key wire.Key, id int64, req paylinks.ChargeRequest) (paylinks.Done, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Done{}, err
	}
	return c.do(ctx, KindTxnCharge, key, id, req.Amount, req)
}

// Capture implements paylinks.Transactions.
func (c transactionFront) Capture(ctx context.Context, key wire.Key, id int64) (paylinks.Done, error) {
	return c.do(ctx, KindTxnCapture, key, id, nil, struct{}{})
}

// Refund implements paylinks.Transactions.
func (c transactionFront) Refund(ctx context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Done{}, err
	}
	return c.do(ctx, KindTxnRefund, key, id, req.Amount, req)
}

// Delete implements paylinks.Transactions.
func (c transactionFront) Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	d, err := c.do(ctx, KindTxnCancel, key, id, nil, struct{}{})
	return paylinks.Deleted{ID: d.ID, Operation: d.Operation}, err
}

// do does one operation on a transaction; its currency is not known here, so that its amount is in hundredths.
func (c transactionFront) do(ctx context.Context, kind string, key wire.Key, id int64, amount *int64, req any) (paylinks.Done, error) {
	if err := checkTransactionID(kind, id); err != nil {
		return paylinks.Done{}, err
	}
	n := int64(0)
	if amount != nil {
		n = *amount
	}
	a, err := c.f.act(ctx, kind, key, id, n, req, c.f.reachTransaction(ctx, kind, id))
	if err != nil {
		return paylinks.Done{}, err
	}
	out := paylinks.Done{ID: id, Operation: a.pending}
	err = readAnswer(c.f.rows[kind], a, &out)
	return out, err
}
