package drivetest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/store"
)

// Parts are what a start is made of. Clocks, boots and what joins the two are the Terminal's.
type Parts struct {
	DB     store.Journal // closed by Halt
	Outbox outbox.Options
	Drive  drive.Options
	// Undos are the kinds of the outbox.
	Undos func(settled func(store.Tx, outbox.Op, gateway.UndoResult) error, after func(outbox.Op)) []outbox.Kind
}

// Terminal is a checkout that can be started again.
type Terminal struct {
	*drive.Drive
	DB  store.Journal
	Box *outbox.Outbox

	t     *testing.T
	parts func() Parts
	boot  string
	born  time.Time
	stop  func()
}

// Run starts a terminal, runs a test with it and halts it, also where the test fails: nothing may be
// left in the bubble. Each start asks for its parts.
func Run(t *testing.T, parts func() Parts, test func(x *Terminal)) {
	t.Helper()
	x := &Terminal{t: t, parts: parts, boot: "boot-1", born: time.Now().Add(-1000 * time.Second)}
	x.Start()
	defer x.Halt()
	test(x)
}

// Now is a wall clock that is set: a bubble begins in 2000.
func Now() time.Time { return time.Now().AddDate(26, 0, 0) }

// Start starts the program and returns when it waits for a register.
func (x *Terminal) Start() {
	x.t.Helper()
	p := x.parts()
	x.DB = p.DB
	born := x.born
	clock := func() time.Duration { return time.Since(born) }
	var d *drive.Drive
	settled := func(tx store.Tx, op outbox.Op, res gateway.UndoResult) error { return d.UndoSettled(tx, op, res) }
	p.Outbox.Kinds = p.Undos(settled, func(op outbox.Op) { d.UndoAfter(op) })
	p.Outbox.Boot, p.Outbox.Jitter = clock, func(d time.Duration) time.Duration { return d }
	x.Box = outbox.NewOutbox(p.Outbox)
	p.Drive.Outbox, p.Drive.Boot, p.Drive.BootID, p.Drive.Log = x.Box, clock, x.boot, slog.New(slog.DiscardHandler)
	d = drive.New(p.Drive)
	x.Drive = d
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = d.Run(ctx) })
	running.Go(func() { _ = x.Box.Run(ctx) })
	x.stop = func() { cancel(); running.Wait() }
	synctest.Wait()
}

// Stop stops the program and leaves its store open.
func (x *Terminal) Stop() { x.stop() }

// Halt stops the program and closes its store.
func (x *Terminal) Halt() {
	x.t.Helper()
	x.Stop()
	require.NoError(x.t, x.DB.Close())
}

// Reboot makes the next start one in a new boot.
func (x *Terminal) Reboot() { x.boot, x.born = x.boot+"+", time.Now().Add(-time.Second) }

// Restart stops the program and starts it again, in the same boot or a new one.
func (x *Terminal) Restart(newBoot bool) {
	x.t.Helper()
	x.Halt()
	if newBoot {
		x.Reboot()
	}
	x.Start()
}

// Ask begins what a register asks for: a payment on the serial line where req does not say.
func (x *Terminal) Ask(req ecr.Request) (ecr.Sale, error) {
	if req.Kind == "" {
		req.Kind = ecr.Payment
	}
	if req.Line == "" {
		req.Line = "serial"
	}
	return x.Begin(context.Background(), req)
}

// Accepted begins what must be accepted.
func (x *Terminal) Accepted(req ecr.Request) ecr.Sale {
	x.t.Helper()
	s, err := x.Ask(req)
	require.NoError(x.t, err)
	return s
}

// Sale begins a payment that must be accepted.
func (x *Terminal) Sale(amount money.Minor) ecr.Sale {
	x.t.Helper()
	return x.Accepted(ecr.Request{Amount: amount})
}

// Again asks for the newest outcome once more.
func (x *Terminal) Again() ecr.Sale {
	x.t.Helper()
	s, err := x.Last(context.Background(), "serial")
	require.NoError(x.t, err)
	return s
}

// Told says what became of telling the register, and returns the outcome.
func (x *Terminal) Told(s ecr.Sale, d ecr.Delivery) ecr.Outcome {
	x.t.Helper()
	o, err := x.Delivered(context.Background(), s.ID, d)
	require.NoError(x.t, err)
	synctest.Wait()
	return o
}

// Approved wants a sale approved, and says what became of telling that.
func (x *Terminal) Approved(s ecr.Sale, d ecr.Delivery) ecr.Outcome {
	x.t.Helper()
	o := <-s.Outcome
	require.Equal(x.t, ecr.Approved, o.Result, o.Text)
	return x.Told(s, d)
}
