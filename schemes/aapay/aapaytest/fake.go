package aapaytest

import (
	"context"
	"net/http"
	"reflect"
	"strconv"
	"sync"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// Fake is an aapay.Service in memory without clock or books: enough to prove clients, handlers and callers.
// The zero value works. Payments wait until Pay or Cancel; refunds and reversals end at once.
type Fake struct {
	// RejectAmount, in hundredths, is answered 201.
	RejectAmount int64

	mu    sync.Mutex
	txs   []*fakeTx
	keys  map[wire.Key]fakeCall
	tombs map[string]bool // references undone before they came
	Calls []string        // routes and references in the order of their effect
}

type fakeTx struct {
	typ    aapay.Type
	req    aapay.Request
	status aapay.Status
	rest   int64 // of a paid payment, not yet given back
}

type fakeCall struct {
	typ   aapay.Type
	req   aapay.Request
	reply aapay.Reply
}

var _ aapay.Service = (*Fake)(nil)

// Initialize implements aapay.Service.
func (f *Fake) Initialize(_ context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begin(typ, req)
}

// InitializeWithIdempotency implements aapay.Service.
func (f *Fake) InitializeWithIdempotency(_ context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	if _, err := wire.ParseKey(string(key)); err != nil {
		return aapay.Reply{}, &wire.Error{Code: wire.Invalid, Op: "fake", Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if before, ok := f.keys[key]; ok {
		if before.typ != typ || !reflect.DeepEqual(before.req, req) {
			return aapay.Reply{}, wire.Errorf(wire.KeyReused, "fake", "key was used with another body")
		}
		return before.reply, nil
	}
	reply, err := f.begin(typ, req)
	if err == nil {
		if f.keys == nil {
			f.keys = map[wire.Key]fakeCall{}
		}
		f.keys[key] = fakeCall{typ: typ, req: req, reply: reply}
	}
	return reply, err
}

func (f *Fake) begin(typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	if err := aapay.Validate(typ, req); err != nil {
		return aapay.Reply{}, err
	}
	n := int64(len(f.txs) + 1001)
	tx := &fakeTx{typ: typ, req: req, status: aapay.Status{
		Valid: true, TransactionID: n, State: aapay.Initialized, TimeStamp: "2026-11-21T10:00:00Z", QRTrigger: "0",
		NAA2ECR: &aapay.NAA2ECR{SchemeID: req.Method, PPRef: "pp-" + strconv.FormatInt(n, 10)},
	}}
	if req.Trigger == aapay.TriggerQR {
		tx.status.QRTrigger, tx.status.QRCodePayload = "1", "https://wallet.example/q/"+tx.status.NAA2ECR.PPRef
	}
	f.txs = append(f.txs, tx)
	f.Calls = append(f.Calls, string(typ)+" "+req.TerminalReference)
	reply := aapay.Reply{HTTPStatus: http.StatusAccepted, Valid: true,
		Response: &aapay.Response{ResponseCode: aapay.CodeOK, NAA2ECR: tx.status.NAA2ECR}}
	if typ == aapay.Payment {
		if req.PurchaseAmount.TotalAmount == f.RejectAmount || f.tombs[req.TerminalReference] {
			tx.status.State = aapay.Rejected
		}
	} else if !f.undo(tx) {
		tx.status.State = aapay.Rejected
	}
	if tx.status.State == aapay.Rejected {
		reply.HTTPStatus, reply.Valid, reply.Response.ResponseCode = http.StatusCreated, false, aapay.CodeReject
		reply.Error = &aapay.Fault{Message: "rejected"}
	}
	return reply, nil
}

// undo lets a reversal or refund act on its original.
func (f *Fake) undo(tx *fakeTx) bool {
	orig := f.find(tx.req.OriginalReference)
	if tx.typ == aapay.Reversal {
		tx.status.State = "REVERSED"
		if orig == nil {
			if f.tombs == nil {
				f.tombs = map[string]bool{}
			}
			f.tombs[tx.req.OriginalReference] = true
			return true
		}
		if orig.status.AccountState != aapay.Commit {
			orig.status.State = aapay.Cancelled
			return true
		}
		if orig.rest != orig.req.PurchaseAmount.TotalAmount {
			return false
		}
		orig.rest, orig.status.AccountState, tx.status.AccountState = 0, aapay.Rollback, aapay.Commit
		return true
	}
	amount := tx.req.PurchaseAmount.TotalAmount
	if orig == nil || orig.status.AccountState != aapay.Commit || amount > orig.rest {
		return false
	}
	orig.rest -= amount
	tx.status.State, tx.status.AccountState = "REFUNDED", aapay.Commit
	return true
}

func (f *Fake) find(id string) *fakeTx {
	for _, tx := range f.txs {
		if same, _ := tx.status.Is(id); same || id != "" && tx.req.TerminalReference == id {
			return tx
		}
	}
	return nil
}

// Status implements aapay.Service.
func (f *Fake) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	if err := aapay.CheckID(id); err != nil {
		return aapay.Status{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	tx := f.find(id)
	if tx == nil {
		return aapay.Status{}, wire.Errorf(wire.NotFound, "fake", "no such transaction")
	}
	return tx.status, nil
}

// Pay lets the customer pay the payment that id names; false if it is not waiting.
func (f *Fake) Pay(id string) bool { return f.end(id, aapay.Finalized, aapay.Commit) }

// Cancel lets the customer refuse it; false if it is not waiting.
func (f *Fake) Cancel(id string) bool { return f.end(id, aapay.Cancelled, "") }

func (f *Fake) end(id string, s aapay.State, a aapay.AccountState) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	tx := f.find(id)
	if tx == nil || tx.status.State != aapay.Initialized {
		return false
	}
	tx.status.State, tx.status.AccountState = s, a
	if a == aapay.Commit {
		tx.rest = tx.req.PurchaseAmount.TotalAmount
	}
	return true
}
