package drive_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

func minor(n int64) money.Minor { return money.Minor(n) }

func TestSaleFromRequestToAcknowledgement(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 3)
		s := r.sale(1250)
		start := time.Now()
		pass(2 * time.Second)
		require.True(t, r.screen.code())
		require.Equal(t, checkout.Waiting, r.phase(s.ID))
		o := <-s.Outcome
		require.False(t, r.screen.code(), "the code is gone before anything is told")
		require.Equal(t, ecr.Approved, o.Result)
		require.Equal(t, 1, o.Receipt)
		require.Equal(t, 1, o.Trace)
		require.Equal(t, minor(1250), o.Amount)
		require.Equal(t, "1", o.TransactionID)
		require.Equal(t, "T1", o.TerminalID)
		require.False(t, o.MerchantCopy)
		require.False(t, o.Settling)
		require.Equal(t, checkout.Approved, r.phase(s.ID))
		r.Told(s, ecr.Told)
		require.Equal(t, checkout.Confirmed, r.phase(s.ID))
		require.EqualValues(t, 1250, r.world.net())
		require.Len(t, r.world.sent(aapay.Payment), 1)
		c := r.world.sent(aapay.Payment)[0]
		require.Equal(t, wire.Key(s.ID), c.key)
		require.NoError(t, aapay.Validate(aapay.Payment, c.req))
		require.Equal(t, aapay.TriggerQR, c.req.Trigger)
		require.Equal(t, &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 1250, TotalAmount: 1250}, c.req.PurchaseAmount)
		require.Equal(t, c.req.TerminalReference, c.req.Consumer.ConsumerID)

		previous := start
		for i, read := range r.world.reads {
			require.GreaterOrEqual(t, read.at.Sub(previous), 2*time.Second, "read %d", i)
			previous = read.at
		}
		_, lines := r.show(s.ID)
		require.Contains(t, lines, "approved, receipt 1, trace 1")
		require.Contains(t, lines, "acknowledged by the register")
		pass(time.Hour)
		require.EqualValues(t, 1250, r.world.net())
		require.Empty(t, r.world.sent(aapay.Reversal))
	})
}

func TestProgressOfASale(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = say(1, aapay.Initialized, "")
		s := r.sale(100)
		pass(3 * time.Second)
		require.Equal(t, ecr.StepShowCode, (<-s.Progress).Step)
		o := <-s.Outcome
		require.Equal(t, ecr.Aborted, o.Result)
		last := ecr.Step("")
		for p := range s.Progress {
			last = p.Step
		}
		require.Equal(t, ecr.StepReversing, last)
	})
}

func TestBeginRefusals(t *testing.T) {
	terminal(t, func(r *rig) {
		for _, c := range []struct {
			req  ecr.Request
			code ecr.Code
		}{
			{ecr.Request{Amount: -1}, ecr.AmountWrong},
			{ecr.Request{Amount: 0}, ecr.AmountWrong},
			{ecr.Request{Amount: 1_000_000_000_000}, ecr.AmountWrong},
			{ecr.Request{Amount: 1, Currency: "SEK"}, ecr.WrongCurrency},
			{ecr.Request{Amount: 1, CardType: 5}, ecr.NoMethod},
			{ecr.Request{Kind: "other", Amount: 1}, ecr.Impossible},
			{ecr.Request{Kind: ecr.Refund, Amount: 1}, ecr.NoOriginal},
			{ecr.Request{Kind: ecr.Refund, Amount: 1, Original: "R9"}, ecr.NotReversible},
			{ecr.Request{Kind: ecr.Refund, Amount: 1, Original: "T9"}, ecr.NotReversible},
			{ecr.Request{Kind: ecr.Refund, Amount: 1, Original: "Rx"}, ecr.NotReversible},
			{ecr.Request{Kind: ecr.Refund, Amount: 0, Original: "R1"}, ecr.AmountWrong},
			{ecr.Request{Kind: ecr.Reversal, Receipt: 9}, ecr.NotReversible},
			{ecr.Request{Amount: 100, Lines: []ecr.Item{{Name: "x", Quantity: 1, Gross: 99}}}, ecr.AmountWrong},
		} {
			_, err := r.Ask(c.req)
			refused(t, err, c.code)
		}
		r.state = catalog.NoMethods
		_, err := r.Ask(ecr.Request{Amount: 1})
		refused(t, err, ecr.NoMethod)
		r.state = catalog.Unknown
		_, err = r.Ask(ecr.Request{Amount: 1})
		refused(t, err, ecr.NotReady)
		require.Empty(t, r.world.inits)
		_, err = r.Last(context.Background(), "serial")
		require.ErrorIs(t, err, ecr.ErrNone)
	})
}

func TestHundredthsAreExactOrRefused(t *testing.T) {
	for currency, want := range map[string]int64{"JPY": 125000, "KWD": 125} {
		terminal(t, func(r *rig) {
			r.cfg.Currency = currency
			r.Restart(false)
			r.world.onStatus = approveAfter(r.world, 1)
			if currency == "KWD" {
				_, err := r.Ask(ecr.Request{Amount: 1255})
				refused(t, err, ecr.AmountWrong)
			}
			s := r.sale(1250)
			<-s.Outcome
			require.Equal(t, want, r.world.sent(aapay.Payment)[0].req.PurchaseAmount.TotalAmount)
			r.Told(s, ecr.Told)
		})
	}
}

func TestOrderLinesTravel(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		s, err := r.Ask(ecr.Request{Amount: 300, Lines: []ecr.Item{
			{ItemNo: "1", Name: "Bun", Unit: "pc", Quantity: 2, UnitPrice: 100, Gross: 200, Tax: 24, TaxRate: 1200},
			{Name: "Tea", Quantity: 1, UnitPrice: 100, Gross: 100},
		}})
		require.NoError(t, err)
		<-s.Outcome
		r.Told(s, ecr.Told)
		o := r.world.sent(aapay.Payment)[0].req.ECR2NAA.Order
		require.EqualValues(t, 300, o.Amount)
		require.EqualValues(t, 176, o.Items[0].NetTotalAmount)
	})
}

func TestSequenceJoins(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 2)
		req := ecr.Request{Amount: 500, Sequence: "000007"}
		a := r.Accepted(req)
		b := r.Accepted(req)
		require.Equal(t, a.ID, b.ID)
		oa, ob := <-a.Outcome, <-b.Outcome
		require.Equal(t, oa, ob)
		r.Told(a, ecr.Told)
		r.Told(b, ecr.Told)
		c := r.Accepted(req)
		again := <-c.Outcome
		require.True(t, again.Repeat)
		require.Equal(t, oa.Receipt, again.Receipt)
		r.Told(c, ecr.Told)
		req.Amount = 501
		_, err := r.Ask(req)
		refused(t, err, ecr.Processing)
		require.Len(t, r.world.sent(aapay.Payment), 1)
		req.Amount = 500
		r.runs(89)
		d := r.Accepted(req)
		require.Equal(t, a.ID, d.ID, "an id is remembered for 90 days of running time")
		<-d.Outcome
		r.Told(d, ecr.Told)
		r.runs(2)
		d = r.Accepted(req)
		require.NotEqual(t, a.ID, d.ID)
		<-d.Outcome
		r.Told(d, ecr.Told)
		other := r.Accepted(ecr.Request{Amount: 500, Sequence: "000007", Line: "tcp"})
		require.NotEqual(t, a.ID, other.ID)
		<-other.Outcome
		r.Told(other, ecr.Told)
	})
}

func TestLastJoinsARunningSale(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 4)
		a := r.sale(500)
		b := r.Again()
		require.Equal(t, a.ID, b.ID)
		require.Equal(t, ecr.Approved, (<-b.Outcome).Result)
		r.Approved(a, ecr.Lost)
		require.Equal(t, checkout.Unconfirmed, r.phase(a.ID))
		r.Told(b, ecr.Told)
		require.Equal(t, checkout.Confirmed, r.phase(a.ID))
	})
}

func TestTellingNobodyReportsOnIsLost(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.sale(500)
		<-s.Outcome
		pass(4 * time.Minute)
		require.Equal(t, checkout.Approved, r.phase(s.ID))
		pass(2 * time.Minute)
		require.Equal(t, checkout.Unconfirmed, r.phase(s.ID))
		pass(11 * time.Minute)
		require.Zero(t, r.world.net())
	})
}

func TestRefusedInitializeIsToldAndWatched(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
			return nil, &wire.Error{Code: wire.Invalid}, true
		}
		s := r.sale(500)
		o := <-s.Outcome
		require.Equal(t, ecr.Aborted, o.Result)
		require.Equal(t, ecr.Processing, o.Code)
		r.Told(s, ecr.Told)
		require.Equal(t, checkout.Declined, r.phase(s.ID))
		pass(15 * time.Minute)
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

func TestMemoryAndHealth(t *testing.T) {
	terminal(t, func(r *rig) {
		ctx := context.Background()
		got, err := r.Load(ctx, "serial")
		require.NoError(t, err)
		require.Nil(t, got)
		require.NoError(t, r.Save(ctx, "serial", []byte("a")))
		require.NoError(t, r.Save(ctx, "serial", []byte("b")))
		r.Restart(true)
		got, err = r.Load(ctx, "serial")
		require.NoError(t, err)
		require.Equal(t, []byte("b"), got)
		h := r.Health(ctx)
		require.True(t, h.Ready)
		require.False(t, h.Busy)
		s := r.sale(100)
		require.True(t, r.Health(ctx).Busy)
		require.NoError(t, r.Abort(ctx, s.ID))
		<-s.Outcome
		r.Told(s, ecr.Told)
		h, err = r.Check(ctx)
		require.NoError(t, err)
		require.False(t, h.Busy)
	})
}

func TestTamperedRowIsShownAndNeverActedUpon(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		require.NoError(t, r.DB.Write(context.Background(), rawExec(`UPDATE checkout_sales SET amount = 100000`)))
		_, err := r.Ask(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt})
		refused(t, err, ecr.NotReversible)
		totals, err := r.Turnover(context.Background())
		require.NoError(t, err)
		require.Zero(t, totals.Count)
		require.Contains(t, totals.Exceptions[0], "quarantined")

		s := r.sale(700)
		synctest.Wait()
		require.NoError(t, r.DB.Write(context.Background(), rawExec(`UPDATE checkout_sales SET amount = 1 WHERE active = 1`)))
		r.Restart(true)
		require.Empty(t, r.world.sent(aapay.Reversal))
		_, lines := r.show(s.ID)
		require.Contains(t, lines[len(lines)-1], "quarantined")
		require.Len(t, r.world.sent(aapay.Payment), 2)
	})
}

func TestManualTriggerAsks(t *testing.T) {
	terminal(t, func(r *rig) {
		d := swish()
		d.Trigger, d.DelayedAmount = []methods.Trigger{methods.Manual}, 1
		d.Queries = []map[string]methods.QueryPrompt{{"1": {Label: "reference", Min: 2, Max: 5}}}
		d.TxnQueryFlow = []methods.QueryFlow{{TransactionType: methods.Payment, QueryIDs: []int32{1}}}
		r.defs = []methods.Definition{d}
		_, err := r.Ask(ecr.Request{Amount: 100})
		refused(t, err, ecr.NoMethod)

		p := &prompter{answers: make(chan answer, 1)}
		r.prompt, r.cfg.OpenAmount = p, true
		r.Restart(false)
		r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })
		s := r.Accepted(ecr.Request{})
		synctest.Wait()
		require.Equal(t, checkout.Choosing, r.phase(s.ID))
		require.True(t, p.asked.NeedAmount)
		require.Empty(t, r.world.inits)
		p.answers <- answer{prompts: map[int32]string{1: "4670"}, amount: 4200}
		o := <-s.Outcome
		require.Equal(t, ecr.Approved, o.Result)
		require.Equal(t, minor(4200), o.Amount)
		c := r.world.sent(aapay.Payment)[0].req
		require.Equal(t, "4670", c.Consumer.ConsumerID, "the first prompt's answer")
		require.Equal(t, aapay.TriggerManual, c.Trigger)
		require.Equal(t, []aapay.KeyValue{{Key: "1", Value: "4670"}}, c.Params)
		r.Told(s, ecr.Told)

		for _, bad := range []answer{{prompts: map[int32]string{1: "4"}, amount: 1}, {amount: 1}, {prompts: map[int32]string{1: "4670"}},
			{method: "OTHER", prompts: map[int32]string{1: "4670"}, amount: 1}, {prompts: map[int32]string{1: "467012"}, amount: 1}} {
			s = r.Accepted(ecr.Request{})
			p.answers <- bad
			require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
			require.Equal(t, checkout.Done, r.phase(s.ID))
			r.Told(s, ecr.Told)
		}
		s = r.Accepted(ecr.Request{Amount: 5})
		require.NoError(t, r.Abort(context.Background(), s.ID))
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		s = r.Accepted(ecr.Request{Amount: 5})
		start := time.Now()
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		require.Equal(t, 38500*time.Millisecond, time.Since(start), "half of what a register waits for")
		require.Len(t, r.world.sent(aapay.Payment), 1)
		r.Told(s, ecr.Told)
	})
}

func TestOneSaleAtATime(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		var lock sync.Mutex
		var sales []ecr.Sale
		var busy int
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				s, err := r.Ask(ecr.Request{Amount: 100, Line: []string{"serial", "tcp"}[i%2]})
				lock.Lock()
				defer lock.Unlock()
				var no *ecr.Refusal
				if errors.As(err, &no) && no.Code == ecr.Busy {
					busy++
					return
				}
				sales = append(sales, s)
			})
		}
		all.Wait()
		require.Len(t, sales, 1)
		require.Equal(t, 19, busy)
		require.Equal(t, ecr.Approved, (<-sales[0].Outcome).Result)
		r.Told(sales[0], ecr.Told)
		require.EqualValues(t, 100, r.world.net())
	})
}
