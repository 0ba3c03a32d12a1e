package agent

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/records/audit"
	"posagent/agent/records/events"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// What a timer, a restart or the backend's answer brings about is the program's deed, also in a register's own commit; what the
// register's next command brings about is the register's.
func TestField_P2ProgramDeeds(t *testing.T) {
	db := storetest.Open(t, Schema()...)
	a := &Agent{o: Options{DB: db, Now: time.Now}, events: events.New(events.Options{DB: db})}
	loop := audit.With(t.Context(), audit.Self("checkout"))
	till := ecr.WithPeer(loop, ecr.Peer{Line: "tcp", Address: "192.0.2.7:9"})
	row := func(phase checkout.Phase, result ecr.Result) *journal.Row {
		return &journal.Row{
			Key: "k", Kind: ecr.Payment, Amount: 1250, Currency: "EUR", Receipt: 17, Boot: "b",
			State: checkout.State{Phase: phase, Result: result, Code: ecr.AbortedByUser},
		}
	}
	sale := func(ctx context.Context, why checkout.Name, was, now *journal.Row) {
		require.NoError(t, db.Write(ctx, func(tx store.Tx) error { return a.saleChanged(tx, why, was, now) }))
	}
	op := func(ctx context.Context, was, now outbox.State, reason string) {
		o := outbox.Op{New: outbox.New{Key: "o", Kind: "payments.create", AmountMin: 300, Currency: "EUR", Note: "payment"}, State: now, Reason: reason}
		require.NoError(t, db.Write(ctx, func(tx store.Tx) error { return a.operationChanged(tx, was, o) }))
	}
	sale(till, "", &journal.Row{}, row(checkout.Initializing, ""))
	sale(loop, checkout.StatusRead, row(checkout.Waiting, ""), row(checkout.Approved, ecr.Approved))
	sale(till, checkout.Told, row(checkout.Approved, ecr.Approved), row(checkout.Confirmed, ecr.Approved))
	sale(loop, checkout.GraceOver, row(checkout.Unconfirmed, ecr.Approved), row(checkout.Reversing, ecr.Aborted))
	sale(till, checkout.NextCommand, row(checkout.Unconfirmed, ecr.Approved), row(checkout.Reversing, ecr.Aborted))
	sale(loop, checkout.Restarted, row(checkout.Waiting, ""), row(checkout.Reversing, ecr.Aborted))
	sale(loop, checkout.UndoSettled, row(checkout.Reversing, ecr.Aborted), row(checkout.Done, ecr.Aborted))
	sale(till, checkout.AbortAsked, row(checkout.Waiting, ""), row(checkout.Aborting, ""))
	sale(till, checkout.BatchClosed, row(checkout.Confirmed, ecr.Approved), row(checkout.Done, ecr.Approved)) // batch.close says it once
	op(wire.WithClient(loop, "alpha"), "", outbox.Pending, "")
	op(loop, outbox.Pending, outbox.Sent, "")
	op(audit.With(loop, audit.Self("outbox")), outbox.Pending, outbox.Expired, "never sent, too old")
	op(audit.With(loop, audit.Uid(1000)), outbox.Doubt, outbox.Done, "resolved by hand: in the portal")

	var got []string
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		list, err := audit.Page(r, 0)
		for _, l := range list {
			got = append(got, fmt.Sprintf("%s %s: %s %d %s", l.Kind, l.Name, l.Deed.Deed, l.Amount, l.Detail))
		}
		return err
	}))
	require.Equal(t, []string{
		"register tcp: sale.begin 1250 payment",
		"program backend's answer: sale.approved 1250 receipt 17",
		"register tcp: sale.confirm 1250 receipt 17",
		"program grace timer: sale.aborted 1250 aborted",
		"program grace timer: sale.undo 1250 receipt 17",
		"register tcp: sale.aborted 1250 aborted",
		"register tcp: sale.undo 1250 receipt 17",
		"program restart: sale.aborted 1250 aborted",
		"program restart: sale.undo 1250 receipt 17",
		"program backend's answer: sale.undone 1250 receipt 17",
		"register tcp: sale.abort 1250 ",
		"client alpha: operation.accept 300 payments.create: payment",
		"program outbox: operation.expired 300 payments.create: never sent, too old",
		"person uid 1000: operation.done 300 payments.create: resolved by hand: in the portal",
	}, got)
}
