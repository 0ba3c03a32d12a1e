package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// nothingCame says that an operation came to nothing, and that neither its caller was told so when nothing was stored nor a person
// decided it.
func nothingCame(op outbox.Op) bool {
	return op.State.Final() && op.State != outbox.Done && !keptOf(op).Withdrawn && !strings.HasPrefix(op.Reason, outbox.ByHand)
}

// shortOf says who is short of the amount of an operation that came to nothing; "" = nobody, it
// moves no money.
func shortOf(op outbox.Op) string {
	switch {
	case op.AmountMin == 0:
		return ""
	case op.Kind == KindPaymentRefund, op.Kind == KindPaymentCancel, op.Kind == KindTxnRefund, op.Kind == KindTxnCancel, op.Kind == KindLinkDelete:
		return string(checkout.Customer)
	}
	return string(checkout.Merchant)
}

// takenBackWithin bounds the commit that takes an alert back.
const takenBackWithin = 5 * time.Second

// takeAlertBack takes back the alert of an operation once its caller has the answer that it came to nothing. Where the answer meets a
// dead connection the alert stays.
func (f *Front) takeAlertBack(ctx context.Context, op outbox.Op) {
	if !nothingCame(op) {
		return
	}
	wire.OnHeard(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takenBackWithin)
		defer cancel()
		if err := f.box.TakeAlertBack(ctx, op.Key); err != nil && !errors.Is(err, outbox.ErrNoAlert) {
			f.o.Log.Error("alert not taken back", "op", op.Key, "err", err)
		}
	})
}
