package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

const linkRisk = "stored: nobody can pay the link before the backend has made it, its address is null until then"

const dropRisk = "stored: the link can be paid until the backend has taken it back, and it may still be refused"

// linkRows are the payment links' part of the table. A link that nobody knows moves no money. A lost reply about a transaction is
// compared whatever Keys are worth: the service this contract is taken from honours none.
func linkRows() []Row {
	const unmade, asked = `{"status":"success","data":[{"id":2000000001,"hash":null,"link":null}]}`, `{"status":"success","data":[{"id":"<as asked>"}]}`
	collect := func(kind, note string, compare comparison, send sending) Row {
		return Row{
			Kind: kind, Service: Paylinks, Thing: "transaction", Offline: Counted, Replay: outbox.Compare, Keyless: outbox.Compare,
			Note: note, Pending: asked, Risk: laterYes, adapt: onTransaction(kind, compare, send),
		}
	}
	return []Row{
		{
			Kind: KindLinkCreate, Service: Paylinks, Thing: linkThing, Makes: true, Number: true, Offline: Counted, Replay: outbox.Safe, Keyless: outbox.Safe,
			Breaks: true, Note: "payment link", Pending: unmade, Risk: linkRisk, adapt: (*Front).sendLink,
		},
		{
			Kind: KindLinkDelete, Service: Paylinks, Thing: linkThing, Offline: Counted, Replay: outbox.Safe, Keyless: outbox.Safe,
			Note: "payment link to take back", Pending: asked, Risk: dropRisk, adapt: (*Front).dropLink,
		},
		collect(KindTxnCharge, "charge", charged, withBody(paylinks.Transactions.Charge)),
		collect(KindTxnCapture, "capture", charged, func(txns paylinks.Transactions, ctx context.Context, key wire.Key, id int64, _ []byte) (paylinks.Done, error) {
			return txns.Capture(ctx, key, id)
		}),
		collect(KindTxnRefund, "refund", refunded, withBody(paylinks.Transactions.Refund)),
		collect(KindTxnCancel, "reservation to give up", cancelled, func(txns paylinks.Transactions, ctx context.Context, key wire.Key, id int64, _ []byte) (paylinks.Done, error) {
			d, err := txns.Delete(ctx, key, id)
			return paylinks.Done{ID: d.ID, Operation: d.Operation}, err
		}),
	}
}

// withBody sends a stored body as a method wants it.
func withBody[In any](do func(txns paylinks.Transactions, ctx context.Context, key wire.Key, id int64, req In) (paylinks.Done, error)) sending {
	return func(txns paylinks.Transactions, ctx context.Context, key wire.Key, id int64, body []byte) (paylinks.Done, error) {
		var req In
		if err := json.Unmarshal(body, &req); err != nil {
			return paylinks.Done{}, err
		}
		return do(txns, ctx, key, id, req)
	}
}

// sendLink is what a create does with the service.
func (f *Front) sendLink() adapter {
	return adapter{shows: f.linkShows, send: func(ctx context.Context, key wire.Key, _ string, body []byte) (reply, error) {
		var b linkBody
		if err := json.Unmarshal(body, &b); err != nil {
			return reply{}, &wire.Error{Code: wire.Internal, Op: KindLinkCreate, Msg: "the stored request is not readable", Err: err}
		}
		req, err := f.opened(b)
		if err != nil {
			return reply{}, err
		}
		c, err := f.o.Links.Create(ctx, key, req)
		if err == nil && c.Operation == nil && c.ID >= paylinks.FirstLocalID {
			err = &wire.Error{Code: wire.UnknownOutcome, Op: KindLinkCreate, Msg: fmt.Sprintf("the backend's number %d is one of those that the terminal gives itself", c.ID), Answered: true}
		}
		if err == nil && c.Operation == nil && !answers(c.Link, req) {
			err = &wire.Error{Code: wire.UnknownOutcome, Op: KindLinkCreate, Msg: "the answer is of another link", Err: wire.ErrAnothers}
		}
		ours := req.ReferenceID != "" && c.ReferenceID == req.ReferenceID
		maskOwn(&c.Link) // the answer is stored in clear
		return reply{strconv.FormatInt(c.ID, 10), c, c.Operation != nil, ours}, err
	}}
}

// answers says that what is told of a link is what was asked for.
func answers(c paylinks.Link, req paylinks.CreateRequest) bool {
	return (c.ReferenceID == "" || c.ReferenceID == req.ReferenceID) && (c.Amount == 0 || c.Amount == req.Amount) && (c.Currency == "" || c.Currency == req.Currency)
}

// dropLink is what a delete does with the service.
func (f *Front) dropLink() adapter {
	return adapter{gone: true, send: func(ctx context.Context, key wire.Key, id string, _ []byte) (reply, error) {
		n, err := linkID(KindLinkDelete, id)
		if err != nil {
			return reply{}, err
		}
		d, err := f.o.Links.Delete(ctx, key, n)
		return reply{body: d, pending: d.Operation != nil}, err
	}}
}

type (
	// sending sends a write about a transaction.
	sending func(txns paylinks.Transactions, ctx context.Context, key wire.Key, id int64, body []byte) (paylinks.Done, error)
	// comparison tells by two pictures of a transaction whether a body had its effect between them.
	comparison func(was, is picture, body []byte, others []outbox.Op) found
)

// onTransaction is what a write about a transaction does with the service.
func onTransaction(kind string, judge comparison, send sending) func(*Front) adapter {
	return func(f *Front) adapter {
		return adapter{
			send: func(ctx context.Context, key wire.Key, id string, body []byte) (reply, error) {
				n, err := linkID(kind, id)
				if err != nil {
					return reply{}, err
				}
				d, err := send(f.o.Transactions, ctx, key, n, body)
				return reply{body: d, pending: d.Operation != nil}, err
			},
			look: func(ctx context.Context, id string) ([]byte, error) { return f.takePicture(ctx, kind, id) },
			compare: func(before, after, body []byte, others []outbox.Op) (reply, found) {
				var was, is picture
				if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil || was.ID != is.ID || was.UUID != is.UUID && is.Status != "" {
					return reply{}, unclear
				}
				what := judge(was, is, body, others)
				if what != exactly && what != absent {
					return reply{}, what
				}
				d := paylinks.Done{ID: is.ID, UUID: is.UUID, Time: is.Time, Status: is.Status, Lang: is.Lang, PSP: is.PSP}
				switch kind { // as the route answers, not as a reading does (S1 3.1)
				case KindTxnCancel:
				case KindTxnRefund:
					d.Status = paylinks.Refunded
				default:
					d.Status = paylinks.Confirmed
				}
				return reply{body: d}, what
			},
		}
	}
}
