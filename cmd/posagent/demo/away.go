package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// operation is what an answer says of what is not answered yet.
type operation struct {
	Key    string `json:"key"`
	Status string `json:"status"`
}

// offline: the network is cut, and the shop goes on.
func (s *story) offline(ctx context.Context) error {
	s.chapter("The network is cut: card, token and link are taken all the same")
	s.net.cut()
	s.say("network   │ ✂ cut between terminal and backend")
	var paid struct {
		PaymentID string    `json:"paymentId"`
		Operation operation `json:"operation"`
	}
	err := s.asks(ctx, 202, &paid, "POST", "/api/v1/payments", `{"type":"Moto","processing":"Authorize","amount":4200,"currencyCode":"EUR","cardDetails":{"pan":"`+testCard+`","expiryYear":2030,"expiryMonth":12}}`)
	if err != nil {
		return err
	}
	if err := s.asks(ctx, 202, nil, "POST", "/api/v1/payments/"+paid.PaymentID+"/Capture", `{"amount":4200}`); err != nil {
		return err
	}
	var token struct {
		TokenizationID string `json:"tokenizationId"`
	}
	err = s.asks(ctx, 202, &token, "POST", "/api/v1/tokens", `{"tokenSecret":"shop","returnUrl":"https://shop.example/","cardDetails":{"pan":"`+testCard+`","expiryYear":2030,"expiryMonth":12}}`)
	if err != nil {
		return err
	}
	link, err := s.linkOffline(ctx)
	if err != nil {
		return err
	}
	if err := s.technician(ctx, "ops", "list"); err != nil {
		return err
	}
	if err := s.net.mend(); err != nil {
		return err
	}
	s.say("network   │ plugged in again")
	if err := s.technician(ctx, "ops", "send", "--all"); err != nil {
		return err
	}
	if err := s.mapped(ctx, paid.PaymentID, token.TokenizationID, link); err != nil {
		return err
	}
	if err := s.technician(ctx, "ops", "report"); err != nil {
		return err
	}
	return s.reconciled(ctx)
}

// reconciled holds what the terminal's report says was captured against what the backend's books say came to the merchant.
func (s *story) reconciled(ctx context.Context) error {
	type figure struct{ Count, Sum int64 }
	var report struct {
		Lines []struct {
			Kind             string
			Stored, Accepted figure
		} `json:"lines"`
	}
	if err := s.ask(ctx, &report, append([]string{"ops", "report", "--json"}, s.flags()...)...); err != nil {
		return err
	}
	books, err := s.books(ctx)
	if err != nil {
		return err
	}
	var said, moved int64
	for _, l := range report.Lines {
		if l.Stored != l.Accepted {
			return fmt.Errorf("%s: %d stored, %d accepted", l.Kind, l.Stored.Count, l.Accepted.Count)
		}
		if l.Kind == "payments.capture" {
			said += l.Accepted.Sum
		}
	}
	for _, b := range books {
		for _, p := range b.Postings {
			if b.Service == "payments" && p.Account == merchantAccount {
				moved += p.Amount
			}
		}
	}
	s.say("books     │ captured by card: %s by the terminal's report, %s by the backend's books", amount(said), amount(moved))
	if said != moved || moved == 0 {
		return fmt.Errorf("the report says %s, the books %s", amount(said), amount(moved))
	}
	return nil
}

// linkOffline makes a payment link, which has an id of the terminal's own for the time being.
func (s *story) linkOffline(ctx context.Context) (id int64, err error) {
	form := url.Values{"title": {"Order 7"}, "description": {"Two chairs"}, "purpose": {"Chairs"}, "referenceId": {"order-7"}, "amount": {"1250"}, "currency": {"EUR"}, "sku": {"chair"}, "psp": {"1"}}
	s.say("shop      │ %s", s.window.cut("POST /v1.0/Invoice/ "+form.Encode()))
	got, err := s.call(ctx, "POST", "/v1.0/Invoice/?instance=demo", "application/x-www-form-urlencoded", form.Encode())
	if err != nil {
		return 0, err
	}
	s.say("terminal  │ %d %s", got.Status, s.window.shorten(got.Body))
	var v struct {
		Data []struct {
			ID int64 `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(got.Body, &v); err != nil || len(v.Data) != 1 || got.Status != 202 {
		return 0, fmt.Errorf("link: %d %s", got.Status, got.Body)
	}
	return v.Data[0].ID, nil
}

// mapped reads what was made offline by the ids it was given then, and wants the backend's answers.
func (s *story) mapped(ctx context.Context, payment, token string, link int64) error {
	var v struct {
		Summary struct {
			ChargedAmount, CapturedAmount int64
		} `json:"summary"`
	}
	got, err := s.settles(ctx, "/api/v1/payments/"+payment, func(r reply) bool {
		return r.Status == 200 && json.Unmarshal(r.Body, &v) == nil && v.Summary.CapturedAmount == 4200
	})
	if err != nil {
		return err
	}
	s.say("terminal  │ %s is the backend's: %s", payment, s.window.shorten(got.Body))
	if got, err = s.settles(ctx, "/api/v1/tokens/"+token, func(r reply) bool { return r.Status == 200 && !strings.Contains(string(r.Body), `"pending"`) }); err != nil {
		return err
	}
	s.say("terminal  │ %s too: %s", token, s.window.shorten(got.Body))
	if got, err = s.settles(ctx, fmt.Sprintf("/v1.0/Invoice/%d/?instance=demo", link), func(r reply) bool { return r.Status == 200 && strings.Contains(string(r.Body), `"link":"http`) }); err != nil {
		return err
	}
	s.say("terminal  │ link %d too: %s", link, s.window.shorten(got.Body))
	return nil
}

// technician runs a verb and shows what it prints.
func (s *story) technician(ctx context.Context, args ...string) error {
	s.say("technician│ $ posagent %s", strings.Join(args, " "))
	who := "technician"
	if len(args) > 1 && args[1] == "send" {
		who = "sending" // a line for each operation
	}
	p, err := s.start(ctx, args[0], s.teller(who), append(args, s.flags()...)...)
	if err != nil {
		return err
	}
	if code, err := p.wait(s.slow()); err != nil || code != 0 {
		return fmt.Errorf("posagent %s: exit %d, %v\n%s", strings.Join(args, " "), code, err, p.tail())
	}
	return nil
}
