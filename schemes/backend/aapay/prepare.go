package aapay

import (
	"fmt"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// asked is one initialize after the checks that need no store.
type asked struct {
	key      wire.Key
	typ      aapay.Type
	req      aapay.Request
	provider Provider
	minor    money.Minor
	body     []byte // the decoded request, written out again
	now      int64
	trace    wire.Trace // of the request, "" = none
	by       string     // the merchant of the credentials, "" = the operator's
}

// verdict is why a transaction is created as rejected; no = "" means it is live.
type verdict struct {
	no    string
	code  int
	ext   int
	state aapay.State
}

// Extended response codes, ours: why a 201.
const (
	extTaken       = 1001 // terminalReference already used
	extUnsupported = 1002 // type or trigger not supported by the method
	extTombstone   = 1003 // reversed before it arrived
	extOriginal    = 1004 // original unknown or not of this kind
	extMismatch    = 1005 // merchant, method, currency or amount differ from the original
	extBooks       = 1006 // the rest of the original forbids it
)

func reject(ext int, no string) verdict {
	return verdict{no: no, code: aapay.CodeReject, ext: ext, state: aapay.Rejected}
}

// about says whether a row speaks about an initialize of a type.
func about(on scenario.On, typ aapay.Type) bool {
	switch typ {
	case aapay.Refund:
		return on == scenario.Refund
	case aapay.Reversal:
		return on == scenario.Reversal
	}
	return on == scenario.Initialize
}

// taken refuses a terminalReference that names another transaction already, as its reference, its id or its ppref: the
// status route takes all three. A reversal or refund that repeats its original's name as its own is taken to have none.
func (w *Wallets) taken(tx store.Tx, a asked, t *txn) (string, error) {
	if t.Type != aapay.Payment && t.TerminalRef == t.OriginalRef {
		t.TerminalRef = ""
	}
	if t.TerminalRef == "" {
		return "", nil
	}
	other, err := findFor(tx, t.Merchant, t.TerminalRef, byTerminal, byPPRef, byID)
	switch {
	case wire.CodeOf(err) == wire.Conflict:
	case err != nil:
		return "", err
	case other == nil:
		return "", nil
	case other.TerminalRef != t.TerminalRef:
		return "terminalReference is another transaction's id: choose another reference", nil
	}
	return "terminalReference is already used", nil
}

// preparePayment lays out what the wallet will do.
func (w *Wallets) preparePayment(tx store.Tx, a asked, t *txn) (verdict, error) {
	d := a.provider.Definition
	t.Script = scenario.Script(t.row().Do, w.timing(a.provider))
	if w.delay != nil && *w.delay < 0 {
		t.Script = nil
	}
	trigger := methods.Manual
	if t.QR {
		trigger = methods.QR
	}
	switch {
	case !methods.Supports(d, methods.Payment):
		return reject(extUnsupported, "the method takes no payments"), nil
	case !methods.HasTrigger(d, trigger):
		return reject(extUnsupported, "the method has no such trigger"), nil
	}
	if t.TerminalRef == "" {
		return verdict{}, nil
	}
	var n int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM wallets_tomb WHERE reference IN (?, ?) OR reference = ? AND txn IN (SELECT id FROM wallets_txn WHERE merchant = ?)`,
		scoped(t.By, t.TerminalRef), scoped(t.Merchant, t.TerminalRef), t.TerminalRef, t.Merchant).Scan(&n); err != nil {
		return verdict{}, fmt.Errorf("read tombstone: %w", err)
	}
	if n > 0 {
		return reject(extTombstone, "the transaction was reversed before it arrived"), nil
	}
	return verdict{}, nil
}

func (w *Wallets) timing(p Provider) scenario.Timing {
	timeOut, finalize := methods.TimeOuts(p.Definition, w.unit)
	tm := scenario.Timing{
		Delay: methods.MeanDelay(p.Definition), StaleAge: methods.StaleAge(p.Definition), TimeOut: timeOut,
		Finalize: finalize, Flow: p.Flow, Word: p.word(),
	}
	if w.delay != nil {
		tm.Delay = max(0, *w.delay)
	}
	return tm
}

// blank is the transaction a request asks for, before anything is decided.
func (w *Wallets) blank(a asked) *txn {
	tm := w.timing(a.provider)
	return &txn{
		Type: a.typ, Method: a.req.Method, Merchant: a.req.MerchantID, By: a.by, TerminalRef: a.req.TerminalReference,
		OriginalRef: a.req.OriginalReference, Currency: a.req.PurchaseAmount.CurrencyCode,
		Hundredths: a.req.PurchaseAmount.TotalAmount, Minor: a.minor, Batch: a.req.Batch,
		QR:      a.typ == aapay.Payment && a.req.EffectiveTrigger() == aapay.TriggerQR,
		Created: a.now, Scenario: scenario.Default().Name,
		life: life{
			State: aapay.Initialized, Since: a.now, Base: a.now,
			Stale: ms(tm.StaleAge), TimeOut: ms(tm.TimeOut), Final: ms(tm.Finalize),
		},
	}
}
