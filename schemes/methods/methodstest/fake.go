package methodstest

import (
	"context"
	"slices"
	"sync"

	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// Fake is a methods.Service in memory: one merchant's definitions. The zero value knows no merchant.
type Fake struct {
	mu    sync.Mutex
	bax   string
	defs  []methods.Definition
	err   error
	Asked int // questions so far
}

var _ methods.Service = (*Fake)(nil)

// Set gives the merchant its definitions and makes List succeed.
func (f *Fake) Set(baxID string, defs ...methods.Definition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bax, f.defs, f.err = baxID, defs, nil
}

// Fail makes List return err from now on.
func (f *Fake) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// List implements methods.Service.
func (f *Fake) List(_ context.Context, q methods.Query) ([]methods.Definition, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Asked++
	if f.err != nil {
		return nil, f.err
	}
	if f.bax == "" || q.BaxID != f.bax {
		return nil, wire.Errorf(wire.NotFound, "fake", "no method for this merchant")
	}
	out := []methods.Definition{}
	for _, d := range f.defs {
		if !slices.Contains(q.Exclude, d.PaymentProviderID) {
			out = append(out, d)
		}
	}
	return out, nil
}

// QR is a good definition: a QR method whose every transaction type works.
func QR() methods.Definition {
	five := int32(5)
	return methods.Definition{
		Priority: 1, PaymentProviderID: 10, Name: "EASY", MeanDelay: 10, WalletID: "easy", Label: "Easy",
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
		Trigger:          []methods.Trigger{methods.QR},
		OKCodes: []methods.OKCode{
			{Type: methods.Refund, Value: "REFUNDED"}, {Type: methods.Reversal, Value: "REVERSED"},
		},
		MerchRcptReq:  []methods.ReceiptRule{{FiTxnTypes: methods.Refund, Req: methods.Required}},
		TriggerParams: &methods.TriggerParams{Qr: &methods.QRParams{ShortcutKey: "1", PushText: "Scan to pay", Type: "0", BgColor: "#FFFFFF"}},
		StaleTimeOut:  &five, FinalizeTimeOut: &five,
	}
}

// Manual is a good definition with a prompt: the consumer's id is typed in.
func Manual() methods.Definition {
	qr := methods.QR
	return methods.Definition{
		Priority: 2, PaymentProviderID: 20, Name: "SWISH_E_COM", MeanDelay: 15, WalletID: "swish", Label: "Swish",
		Queries:          []map[string]methods.QueryPrompt{{"1": {Label: "Mobile number", Min: 8, Max: 15}}, {"2": {Label: "Order", Min: 1, Max: 12}}},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Reversal},
		Trigger:          []methods.Trigger{methods.Manual, methods.QR}, DefaultTrigger: &qr,
		OKCodes: []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}},
		TxnQueryFlow: []methods.QueryFlow{
			{TransactionType: methods.Payment, QueryIDs: []int32{2, 1}, Triggers: []methods.Trigger{methods.Manual}},
		},
		DelayedAmount: 1,
	}
}
