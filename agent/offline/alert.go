package offline

import (
	"context"
	"errors"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// alertWithin bounds the commit of an alert that comes after its operation's end.
const alertWithin = 5 * time.Second

// nothingCame says that an operation came to nothing, and that neither its caller was told so nor a person decided it.
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

// raiseAlert raises the alert of an operation whose client was told "stored".
func (f *Front) raiseAlert(tx store.Tx, op outbox.Op) error {
	_, subject, _ := strings.Cut(op.Aggregate, "/")
	return f.box.Alert(tx, op, subject, shortOf(op))
}

// takeAlertBack takes back the alert of an operation whose end its caller has seen after all.
func (f *Front) takeAlertBack(ctx context.Context, key wire.Key) {
	f.endHeard(key)
	if err := f.box.TakeAlertBack(ctx, key); err != nil && !errors.Is(err, outbox.ErrNoAlert) {
		f.o.Log.Error("alert not taken back", "op", key, "err", err)
	}
}

// alertLate raises the alert of an operation whose last caller went away with "pending" while its end was being committed.
func (f *Front) alertLate(op outbox.Op) {
	f.mu.Lock()
	left := f.ending[op.Key] && len(f.waits[op.Key]) == 0
	delete(f.ending, op.Key)
	wake(f.waits[op.Key]) // whoever leaves now looks first
	f.mu.Unlock()
	if !left || !nothingCame(op) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), alertWithin)
	defer cancel()
	if err := f.o.DB.Write(ctx, func(tx store.Tx) error { return f.raiseAlert(tx, op) }); err != nil {
		f.o.Log.Error("alert not stored", "op", op.Key, "state", op.State, "err", err)
	}
}
