package aapay

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// Status implements aapay.Service.
func (w *Wallets) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	if err := aapay.CheckID(id); err != nil {
		return aapay.Status{}, err
	}
	now := w.Now().UnixMilli()
	var out aapay.Status
	var do scenario.Do
	settled := false
	read := func(r store.Reader) (*txn, error) {
		t, err := find(r, id, byPPRef, byID, byTerminal)
		if err != nil {
			return nil, err
		}
		if t == nil || method != "" && t.Method != method {
			return nil, wire.Errorf(wire.NotFound, opStatus, "transaction not found")
		}
		return t, nil
	}
	err := w.DB.Read(ctx, func(r store.Reader) error {
		t, err := read(r)
		if err != nil {
			return err
		}
		if c, ok := due(t.life); ok && c.At <= now || t.row().On == scenario.Status && t.Type == aapay.Payment {
			return nil
		}
		settled = true
		out, err = w.view(r, t)
		return err
	})
	if err == nil && !settled {
		err = w.DB.Write(ctx, func(tx store.Tx) error {
			t, err := read(tx)
			if err != nil {
				return err
			}
			if err := w.advance(tx, t, now); err != nil {
				return err
			}
			if out, err = w.view(tx, t); err != nil {
				return err
			}
			out, do, err = w.twist(tx, t, out, now)
			return err
		})
	}
	if err != nil {
		return aapay.Status{}, wire.AsError(opStatus, err)
	}
	return answer(ctx, opStatus, out, do)
}

// twist changes a status as the transaction's row has it.
func (w *Wallets) twist(tx store.Tx, t *txn, out aapay.Status, now int64) (aapay.Status, scenario.Do, error) {
	row := t.row()
	if row.On != scenario.Status || t.Type != aapay.Payment {
		return out, "", nil
	}
	switch row.Do {
	case scenario.SayHugeQR:
		if out.QRCodePayload != "" {
			out.QRCodePayload += "?" + strings.Repeat("x", 100<<10)
		}
		return out, "", nil
	case scenario.SayOtherAmount:
		if out.Receipt != nil {
			out.Receipt.Amount, out.Receipt.Currency = 1, "XAF"
		}
		return out, "", nil
	}
	first, err := once(tx, "status/"+t.key(), now)
	if err != nil || !first {
		return out, "", err
	}
	if row.Do == scenario.SayOtherID {
		out.TransactionID++
		out.State, out.AccountState, out.QRCodePayload = aapay.Finalized, aapay.Commit, ""
		out.NAA2ECR = &aapay.NAA2ECR{PPRef: newRef()}
		return out, "", nil
	}
	return out, row.Do, nil
}

// view writes a transaction as S1 2.4 shows it.
func (w *Wallets) view(r store.Reader, t *txn) (aapay.Status, error) {
	request, err := w.DB.Unseal(r, t.cell(), t.Request)
	if err != nil {
		return aapay.Status{}, err
	}
	var req aapay.Request
	if err := json.Unmarshal(request, &req); err != nil {
		return aapay.Status{}, err
	}
	out := aapay.Status{
		Valid: true, TransactionID: t.ID, TimeStamp: stamp(t.Created), State: t.State, AccountState: t.Account,
		QRTrigger: "0", NAA2ECR: w.naa(t),
		Receipt: &aapay.Receipt{
			MerchantName: w.seed.MerchantName, TerminalID: terminal(req), Scheme: t.Method, Amount: t.Hundredths,
			Currency: t.Currency, Time: stamp(t.Since), Reference: t.TerminalRef, State: string(t.State),
		},
	}
	if t.TerminalRef == "" {
		out.Receipt.Reference = t.PPRef
	}
	if req.Consumer != nil {
		out.PayerID = req.Consumer.ConsumerID
	}
	if t.QR {
		out.QRTrigger, out.PayerID = "1", ""
		if t.Account == aapay.Commit || t.State == aapay.Reserved {
			out.PayerID = "wallet-" + t.PPRef[len(t.PPRef)-4:]
		}
		if live(t.State) && t.Account != aapay.Commit && t.State != aapay.Reserved {
			out.QRCodePayload = t.Payload
		}
	}
	out.NAA2ECR.PayerID = out.PayerID
	if p, ok := w.seed.find(t.Method); ok && t.Type == aapay.Payment && (t.Account == aapay.Commit || t.State == aapay.Reserved || methods.OK(p.Definition, methods.Payment, string(t.State))) {
		out.NAA2ECR.AdditionalInfo, out.NAA2ECR.LoyaltyIDs = cmp.Or(p.AdditionalInfo, p.Label), p.LoyaltyIDs
	}
	return out, nil
}

func stamp(atMS int64) string {
	return time.UnixMilli(atMS).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// terminal is the terminal id, where the request says it in one of its free fields.
func terminal(req aapay.Request) string {
	if v := req.ParameterMap["terminalId"]; v != "" {
		return v
	}
	for _, list := range [][]aapay.KeyValue{req.AdditionalProperties, req.Params} {
		for _, kv := range list {
			if kv.Key == "terminalId" {
				return kv.Value
			}
		}
	}
	return ""
}
