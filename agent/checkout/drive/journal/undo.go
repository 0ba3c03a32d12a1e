package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posagent/agent/checkout"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// acceptUndo puts an undo operation into the outbox, in the commit that decides it. Every attempt
// has its own Key and terminalReference, and the original's reference.
func (j *Journal) acceptUndo(tx store.Tx, r *Row, attempt int, refund bool) error {
	typ, original := aapay.Reversal, r.Reference
	if refund {
		typ, original = aapay.Refund, strconv.FormatInt(r.State.TransactionID, 10)
	}
	aggregate := r.Reference
	if attempt > 1 { // an earlier attempt may be in doubt and hold its queue
		aggregate += "." + strconv.Itoa(attempt)
	}
	r.UndoKey = wire.NewKey()
	op, err := j.operation(r, r, r.UndoKey, typ, original, aggregate)
	if err != nil {
		return err
	}
	op.Note = "undo of " + r.Title()
	if err := j.opt.Outbox.Accept(tx, op); err != nil {
		return fmt.Errorf("undo %s: %w", r.Key, err)
	}
	return nil
}

// AcceptForward stores a refund or reversal with the debit of its original, and sends it unless
// something has to be asked first, in the caller's commit. original names the payment for the
// backend, params are the answers to the method's prompts.
func (j *Journal) AcceptForward(tx store.Tx, row, orig *Row, typ aapay.Type, original string, params []aapay.KeyValue) error {
	orig.Debited += row.Amount
	orig.Reversed = orig.Reversed || row.Kind == ecr.Reversal
	if err := j.Update(tx, orig); err != nil {
		return err
	}
	if row.State.Phase == checkout.Forward {
		if err := j.SendForward(tx, row, orig, typ, original, params); err != nil {
			return err
		}
	}
	if err := j.Insert(tx, row); err != nil {
		return err
	}
	if err := j.Note(tx, row.Key, false, fmt.Sprintf("%s of receipt %d accepted from %s", row.Title(), orig.Receipt, row.Line)); err != nil {
		return err
	}
	return j.Note(tx, orig.Key, false, fmt.Sprintf("%s asked for", row.Title()))
}

// SendForward puts the operation of a refund or reversal into the outbox, in the caller's commit.
func (j *Journal) SendForward(tx store.Tx, row, orig *Row, typ aapay.Type, original string, params []aapay.KeyValue) error {
	op, err := j.operation(row, orig, row.Key, typ, original, orig.Reference, params...)
	if err != nil {
		return err
	}
	op.Note = row.Title()
	if err := j.opt.Outbox.Accept(tx, op); err != nil {
		return fmt.Errorf("accept %s: %w", row.Key, err)
	}
	return nil
}

// SeeOperation notes on a refund or reversal that runs whether its operation is held in the outbox: then
// nothing happens to it before a person has looked.
func SeeOperation(r store.Reader, row *Row) error {
	if row.State.Phase != checkout.Forward {
		return nil
	}
	op, err := outbox.Look(r, row.Key)
	if errors.Is(err, outbox.ErrUnknown) {
		return nil
	}
	row.Waits = err == nil && op.State == outbox.Held
	return err
}

// operation is an undo, refund or reversal of a payment for the outbox; r is the sale that it is of.
func (j *Journal) operation(r, paid *Row, key wire.Key, typ aapay.Type, original, aggregate string, params ...aapay.KeyValue) (outbox.New, error) {
	amount, err := r.Hundredths()
	if err != nil {
		return outbox.New{}, err
	}
	ref, trigger, way := ReferenceOf(key), aapay.TriggerManual, methods.Reversal
	if typ == aapay.Refund {
		way = methods.Refund
	}
	if checkout.Back(r.Method, way, checkout.Wish{}).Trigger == methods.QR {
		trigger = aapay.TriggerQR
	}
	p := gateway.UndoPayload{
		Request: aapay.Request{
			MerchantID: j.opt.MerchantID, Method: r.Method.Name, PurchaseAmount: amount, Consumer: &aapay.Consumer{ConsumerID: ref},
			TerminalReference: ref, OriginalReference: original, Trigger: trigger, Params: params,
		},
		Window: r.State.Limits.Window(), ReadFirst: key == r.Key && r.State.ReadFirst,
	}
	if r.Method.Name != gateway.MethodPaylink { // whose undo shows each payment that it gives back
		p.OriginalID = paid.State.TransactionID
	}
	for _, c := range r.Method.OKCodes {
		if strings.EqualFold(string(c.Type), string(typ)) {
			p.OKWords = append(p.OKWords, c.Value)
		}
	}
	payload, err := json.Marshal(p)
	if err != nil {
		return outbox.New{}, fmt.Errorf("operation of %s: %w", r.Key, err)
	}
	kind := gateway.KindOf(r.Method.Name, typ == aapay.Refund)
	return outbox.New{Key: key, Kind: kind, Aggregate: aggregate, Payload: payload, AmountMin: int64(r.Amount), Currency: r.Currency, Trace: r.TraceID()}, nil
}

// release gives a debited amount back to the original, after the backend's final no.
func (j *Journal) release(tx store.Tx, r *Row) error {
	orig, err := j.ByKey(tx, r.Original)
	if errors.Is(err, ErrQuarantined) { // its row is never written again
		return j.raise(tx, r, checkout.NotKnown, "refused by the backend, but its original is quarantined")
	}
	if err != nil {
		return err
	}
	orig.Debited -= r.Amount
	if r.Kind == ecr.Reversal {
		orig.Reversed = false
		if text := checkout.Unexplained(orig.State); text != "" {
			orig.State.Excepted = true
			if err := j.raise(tx, orig, checkout.Merchant, text); err != nil {
				return err
			}
		}
	}
	if err := j.Update(tx, orig); err != nil {
		return err
	}
	switch r.State.Code {
	case ecr.AbortedByUser:
		return j.Note(tx, orig.Key, false, r.Title()+" was given up: nothing was sent")
	case ecr.NoConnection:
		return j.Note(tx, orig.Key, false, r.Title()+" was withdrawn: nothing was sent")
	}
	return j.Note(tx, orig.Key, false, r.Title()+" was refused by the backend")
}
