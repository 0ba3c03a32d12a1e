package demo

import (
	"context"
	"fmt"
	"time"
)

// methodSeed are the backend's method definitions for the story: short times, so that the person need not wait.
const methodSeed = `[
 {"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":%d,"trigger":["QR"],"defaultTrigger":"QR",
  "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"triggerParams":{"Qr":{"pushText":"Scan to pay","type":"0","bgcolor":"#ffffff"}},
  "staleTimeOut":4,"finalizeTimeOut":4,"delayedAmount":0},
 {"priority":2,"paymentProviderId":2,"name":"BLUECODE","label":"Bluecode","meanDelay":1,"trigger":["QR"],"defaultTrigger":"QR",
  "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"triggerParams":{"Qr":{"pushText":"Scan to pay","type":"0","bgcolor":"#ffffff"}},
  "staleTimeOut":2,"finalizeTimeOut":2,"delayedAmount":0}
]
`

// methods are the definitions with a code that is valid long enough on this machine.
func (s *story) methods() string { return fmt.Sprintf(methodSeed, 7*s.pace) }

// terminalConfig wants the backend's URL and the terminal's end of the cable.
const terminalConfig = `[terminal]
bax_id = "1000001"
terminal_id = "29001006"
merchant_id = "demo-merchant"
merchant_name = "Corner Shop"
currency = "EUR"
language = "en"
[port]
listen = "127.0.0.1:0"
[upstream]
base = "%s"
[upstream.auth]
consumer_key = "demo-consumer"
consumer_secret = "demo-consumer-secret"
instance = "demo"
secret = "demo-secret"
api_key = "demo-api-key"
[paylinks]
method = true
[methods]
timeout_unit = "s"
[display]
console = true
[[ecr]]
serial = "%s"
`

func shown(v sale) bool { return v.Code && v.Result == "" }

// showing asks for a sale, and waits until its code is on the screen.
func (s *story) showing(ctx context.Context, args ...string) (reg *process, now sale, err error) {
	if reg, err = s.register(ctx, "pay", args...); err == nil {
		now, err = s.until(ctx, "showing its code", s.slow(), shown)
	}
	return reg, now, err
}

// decided is a sale that the customer decides, and whose end the register hears.
func (s *story) decided(ctx context.Context, word string, code int, result string, args ...string) error {
	reg, now, err := s.showing(ctx, args...)
	if err != nil {
		return err
	}
	if err := s.wallet(ctx, word, now); err != nil {
		return err
	}
	return s.expect(ctx, reg, code, result, result == "approved")
}

// paid: the plain sale.
func (s *story) paid(ctx context.Context) error {
	s.chapter("A sale: the wallet pays, the receipt is printed")
	return s.decided(ctx, "pay", 0, "approved", "12.50")
}

// declined: the customer says no.
func (s *story) declined(ctx context.Context) error {
	s.chapter("A decline: the customer says no")
	return s.decided(ctx, "decline", 1, "declined", "7.20")
}

// aborted: the cashier stops the sale.
func (s *story) aborted(ctx context.Context) error {
	s.chapter("An abort: the cashier stops the sale (06 B0)")
	reg, err := s.register(ctx, "pay", "5.00", "--abort-after", "3s")
	if err != nil {
		return err
	}
	return s.expect(ctx, reg, 1, "aborted", false)
}

// powerCut: the terminal is killed mid-sale and restarted.
func (s *story) powerCut(ctx context.Context) error {
	s.chapter("A power cut: the terminal is killed with -9 mid-sale and restarted")
	reg, now, err := s.showing(ctx, "18.00")
	if err != nil {
		return err
	}
	s.agent.kill()
	s.say("terminal  │ ⚡ dead")
	if err := s.wallet(ctx, "pay", now); err != nil {
		return err
	}
	reg.kill()
	if err := s.startAgent(ctx); err != nil {
		return err
	}
	return s.again(ctx)
}

// again repeats the receipt and wants the newest sale approved and confirmed.
func (s *story) again(ctx context.Context) error {
	reg, err := s.register(ctx, "repeat")
	if err != nil {
		return err
	}
	return s.expect(ctx, reg, 0, "approved", true)
}

// lateCommit: the sale is stopped, the backend takes its time with the reversal, and the wallet pays meanwhile.
func (s *story) lateCommit(ctx context.Context) error {
	s.chapter("A late commit: the money moves after the register was told no, and goes back")
	reg, err := s.register(ctx, "pay", lateAmount, "--abort-after", "3s")
	if err != nil {
		return err
	}
	if err := s.expect(ctx, reg, 1, "aborted", false); err != nil {
		return err
	}
	late, err := s.until(ctx, "aborted", s.slow(), func(v sale) bool { return v.Result == "aborted" })
	if err != nil {
		return err
	}
	if err := s.wallet(ctx, "pay", late); err != nil {
		return err
	}
	s.say("wallet    │ paid all the same; the reversal is on its way")
	if _, err := s.until(ctx, "undone", s.slow(), func(v sale) bool { return v.Settled }); err != nil {
		return err
	}
	story, err := s.start(ctx, "technician", s.teller("journal"), append([]string{"sale", "show", late.ID}, s.flags()...)...)
	if err != nil {
		return err
	}
	_, err = story.wait(s.slow())
	return err
}

// byLink: the customer pays on a page of his own, which the code leads to.
func (s *story) byLink(ctx context.Context) error {
	s.chapter("A sale by payment link: the code leads to a page")
	return s.decided(ctx, "pay", 0, "approved", "21.00", "--card-type", "900")
}

// expect waits for the register's end and for the sale to stand as wanted.
func (s *story) expect(ctx context.Context, reg *process, code int, result string, told bool) error {
	got, err := reg.wait(s.slow())
	if err != nil {
		return err
	}
	if got != code {
		return fmt.Errorf("the register ended with %d, want %d:\n%s", got, code, reg.tail())
	}
	v, err := s.until(ctx, result, s.slow(), func(v sale) bool {
		return v.Result == result && (!told || v.Phase == "CONFIRMED" || v.Phase == "DONE")
	})
	if err != nil {
		return err
	}
	s.say("journal   │ %s %s %s: %s, %s", v.ID[:min(8, len(v.ID))], amount(v.Amount), v.Currency, v.Result, v.Phase)
	return nil
}

func amount(minor int64) string { return fmt.Sprintf("%d.%02d", minor/100, minor%100) }

const (
	merchantAccount = "merchant"
	lateAmount      = "900.19" // the scenario table: the reversal is s.slow(), until then the payment may still commit
)

// entry is what `posagent backend books --json` says of one transaction.
type entry struct {
	Service   string `json:"service"`
	ID        string `json:"id"`
	Reference string `json:"reference"`
	Type      string `json:"type"`
	Amount    int64  `json:"amount"`
	State     string `json:"state"`
	Account   string `json:"accountState"`
	Original  string `json:"original"`
	Postings  []struct {
		Account string `json:"account"`
		Amount  int64  `json:"amount"`
	} `json:"postings"`
}

// closing waits until everything has settled, ends the day and holds the books against the journal.
func (s *story) closing(ctx context.Context) error {
	s.chapter("End of day, and the backend's books beside the terminal's journal")
	end := time.Now().Add(s.slow())
	var list []sale
	for open := -1; open != 0; {
		var err error
		if list, err = s.sales(ctx); err != nil {
			return err
		}
		open = 0
		for _, v := range list {
			if !v.Settled {
				open++
			}
		}
		if open > 0 && time.Now().After(end) {
			return fmt.Errorf("%d sales have not settled after %s: %+v", open, s.slow(), list)
		}
		if open > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(300 * time.Millisecond):
			}
		}
	}
	s.window.another()
	reg, err := s.register(ctx, "end-of-day")
	if err != nil {
		return err
	}
	if code, err := reg.wait(s.slow()); err != nil {
		return fmt.Errorf("end of day: %w\n%s", err, reg.tail())
	} else if code != 0 {
		return fmt.Errorf("end of day: exit %d\n%s", code, reg.tail())
	}
	books, err := s.books(ctx)
	if err != nil {
		return err
	}
	return s.compare(list, books)
}

// books asks the backend for every transaction.
func (s *story) books(ctx context.Context) (list []entry, err error) {
	err = s.ask(ctx, &list, "backend", "books", "--state", s.path("backend"), "--config", s.path("backend.toml"), "--json")
	return list, err
}

// compare prints one line a sale: what the register was told beside what moved.
func (s *story) compare(list []sale, books []entry) error {
	net, moved, sum := map[string]int64{}, map[string]int{}, int64(0)
	reference := map[string]string{} // by transaction id
	for _, b := range books {
		reference[b.ID] = b.Reference
	}
	for _, b := range books {
		ref := b.Reference
		if b.Original != "" {
			ref = reference[b.Original]
		}
		for _, p := range b.Postings {
			sum += p.Amount
			if p.Account == merchantAccount {
				net[ref] += p.Amount
				moved[ref]++
			}
		}
	}
	s.say("\n  %-10s %10s   %-10s %-12s %14s %10s", "sale", "amount", "register", "journal", "books, net", "movements")
	var bad int
	for i := len(list) - 1; i >= 0; i-- {
		v, mark := list[i], "="
		want := int64(0)
		if v.Result == "approved" {
			want = v.Amount
		}
		if net[v.Reference] != want {
			bad, mark = bad+1, "≠"
		}
		s.say("  %-10s %10s   %-10s %-12s %14s %10d %s", v.ID[max(0, len(v.ID)-8):], amount(v.Amount), v.Result, v.Phase, amount(net[v.Reference]), moved[v.Reference], mark)
	}
	if bad > 0 || sum != 0 {
		return fmt.Errorf("%d sales differ between journal and books, postings sum to %d", bad, sum)
	}
	for _, late := range list {
		if amount(late.Amount) == lateAmount && moved[late.Reference] < 2 {
			return fmt.Errorf("the late commit did not happen and go back: %d movements", moved[late.Reference])
		}
	}
	if want := 12; len(list) != want {
		return fmt.Errorf("the journal has %d sales, want %d", len(list), want)
	}
	s.say("\n  Told approved: the money moved once. Told anything else: none moved. Postings sum to zero.")
	return nil
}
