package aapay

import (
	"context"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
	"posagent/store"
)

// Look is what a wallet page says about a payment.
type Look string

// The looks.
const (
	Open       Look = "open"       // may be paid or declined
	Processing Look = "processing" // the customer has acted, the provider has not
	Paid       Look = "paid"
	Declined   Look = "declined"
	Expired    Look = "expired"
	Undone     Look = "reversed" // paid and taken back
)

// Purse is a payment as its wallet sees it.
type Purse struct {
	Ref          string             `json:"ref"` // the ppref
	Look         Look               `json:"look"`
	State        aapay.State        `json:"state"`
	AccountState aapay.AccountState `json:"accountState,omitempty"`
	Merchant     string             `json:"merchant"`
	Method       string             `json:"method"`
	Amount       int64              `json:"amount"` // hundredths
	Currency     string             `json:"currency"`
}

// Act is what a customer does.
type Act string

// The acts.
const (
	ActPay     Act = "pay"
	ActDecline Act = "decline"
)

const opWallet = "wallet"

// Pay lets the customer of a payment act now, as the payment's row has it. ref is a ppref, transactionId or
// terminalReference.
//  1. the purse as it stands now; paying what is paid changes nothing;
//  2. wire.NotFound: no such payment;
//  3. wire.Conflict: declined, expired or cancelled.
func (w *Wallets) Pay(ctx context.Context, ref string) (Purse, error) {
	return w.act(ctx, ref, ActPay, nil, byPPRef, byID, byTerminal)
}

// Decline lets the customer refuse: the payment is REJECTED. Outcomes as for Pay; wire.Conflict when it is paid.
func (w *Wallets) Decline(ctx context.Context, ref string) (Purse, error) {
	return w.act(ctx, ref, ActDecline, nil, byPPRef, byID, byTerminal)
}

// Show reads a payment's purse by its ppref only: who knows it may see it.
func (w *Wallets) Show(ctx context.Context, ppref string) (Purse, error) {
	var p Purse
	now := w.Now().UnixMilli()
	err := room.Touch(ctx, w.DB, room.Timed[*txn]{
		Find: func(r store.Reader) (*txn, error) { return w.purse(r, ppref, byPPRef) },
		Due: func(_ store.Reader, t *txn) (bool, error) {
			c, ok := due(t.life)
			return ok && c.At <= now, nil
		},
		Advance: func(tx store.Tx, t *txn) error { return w.advance(tx, t, now) },
	}, func(r store.Reader, t *txn) (err error) {
		p, err = w.look(r, t)
		return err
	})
	if err != nil {
		return Purse{}, wire.AsError(opWallet, err)
	}
	return p, nil
}

func (w *Wallets) purse(r store.Reader, ref string, ways ...string) (*txn, error) {
	t, err := find(r, ref, ways...)
	if err != nil {
		return nil, err
	}
	if t == nil || t.Type != aapay.Payment {
		return nil, wire.Errorf(wire.NotFound, opWallet, "no such payment")
	}
	return t, nil
}

// act performs an act in one commit; first, when not nil, may refuse it there. ways say which names ref may be: a program's is any, a
// form's the one whose page was shown.
func (w *Wallets) act(ctx context.Context, ref string, what Act, first func(store.Tx) error, ways ...string) (Purse, error) {
	var p Purse
	now := w.Now().UnixMilli()
	err := w.DB.Write(ctx, func(tx store.Tx) error {
		if first != nil {
			if err := first(tx); err != nil {
				return err
			}
		}
		t, err := w.purse(tx, ref, ways...)
		if err != nil {
			return err
		}
		if err := w.advance(tx, t, now); err != nil {
			return err
		}
		if p, err = w.look(tx, t); err != nil {
			return err
		}
		if err := w.perform(tx, t, what, p.Look, now); err != nil {
			return err
		}
		p, err = w.look(tx, t)
		return err
	})
	if err != nil {
		return Purse{}, wire.AsError(opWallet, err)
	}
	w.Poke()
	return p, nil
}

func (w *Wallets) perform(tx store.Tx, t *txn, what Act, look Look, now int64) error {
	switch {
	case look == Open:
	case what == ActPay && (look == Paid || look == Processing), what == ActDecline && look == Declined:
		return nil // once more is not twice
	default:
		return wire.Errorf(wire.Conflict, opWallet, "the payment is %s", look)
	}
	if what == ActDecline {
		t.State, t.Since, t.Script, t.Pos = aapay.Rejected, now, nil, 0
		if err := w.closeBooks(tx, t, now); err != nil {
			return err
		}
		return save(tx, t)
	}
	if len(t.Script) == 0 { // no scan was planned, but one came
		p, ok := w.seed.find(t.Method)
		if !ok {
			return wire.Errorf(wire.Conflict, opWallet, "the method is gone")
		}
		tm := w.timing(p)
		tm.Delay = 0
		t.Script, t.Base, t.Pos = scenario.Script(scenario.Approve, tm), now, 0
	}
	if t.State == awaiting {
		t.Pos = len(t.Script) - 1
	}
	t.life, _ = hurry(t.life, now)
	if err := w.advance(tx, t, now); err != nil {
		return err
	}
	return save(tx, t)
}

// awaiting is the unknown word of the table's row.
const awaiting aapay.State = "AWAITING_BANK"

func (w *Wallets) look(r store.Reader, t *txn) (Purse, error) {
	p := Purse{
		Ref: t.PPRef, State: t.State, AccountState: t.Account, Merchant: w.seed.MerchantName, Method: t.Method,
		Amount: t.Hundredths, Currency: t.Currency,
	}
	undone, err := returned(r, t)
	switch {
	case err != nil:
		return Purse{}, err
	case undone:
		p.Look = Undone
	case t.Account == aapay.Commit:
		p.Look = Paid
	case t.State == aapay.Rejected || t.State == aapay.Failed || t.Account == aapay.Rollback && t.State == aapay.Finalized:
		p.Look = Declined
	case !live(t.State):
		p.Look = Expired
	case t.State == aapay.Initialized, t.State == aapay.Stale, t.State == aapay.Pending, t.State == awaiting:
		p.Look = Open
	default:
		p.Look = Processing
	}
	return p, nil
}
