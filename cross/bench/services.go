package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"

	"posagent/schemes/backend"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

const (
	serviceCalls = 25 // of one caller
	fieldCommits = 5  // one for every field of a card
)

// services makes payment links, disputes and hosted payments over loopback.
func (b *bench) services(s *site) error {
	for _, callers := range []int{1, 16} {
		if err := b.links(s, callers); err != nil {
			return err
		}
		if err := b.disputes(s, callers); err != nil {
			return err
		}
		if err := b.hosted(s, callers); err != nil {
			return err
		}
	}
	return nil
}

// payments creates, authorizes and captures payments over loopback.
func (b *bench) payments(s *site) error {
	for _, callers := range []int{1, 16} {
		c := &payments.Client{BaseURL: s.url, Doer: &bearer{caller(callers)}}
		err := b.beside(s, "create + authorize + capture", callers, 50*callers, 3, func() error {
			p, err := c.Create(b.ctx, wire.NewKey(), payments.CreateRequest{
				Type: payments.ProviderHosted, Amount: 1250, CurrencyCode: "EUR",
				RedirectURLs: &payments.RedirectURLs{ReturnURL: "https://shop.example/back"},
			})
			if err == nil {
				_, err = c.Authorize(b.ctx, wire.NewKey(), p.PaymentID, payments.AuthorizeRequest{})
			}
			if err == nil {
				_, err = c.Capture(b.ctx, wire.NewKey(), p.PaymentID, payments.CaptureRequest{})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// links makes a link and reads it.
func (b *bench) links(s *site, callers int) error {
	cred, web := backend.DemoCredentials(), caller(callers)
	c := &paylinks.Client{BaseURL: s.url, Instance: cred.Instance, Secret: cred.Secret, Doer: &web}
	return b.beside(s, "link create + read", callers, serviceCalls*callers, 1, func() error {
		made, err := c.Links().Create(b.ctx, wire.NewKey(), paylinks.CreateRequest{
			Title: "Order", Description: "Two chairs", ReferenceID: "bench", Purpose: "Chairs", Amount: 1250, Currency: "EUR",
		})
		if err != nil {
			return err
		}
		got, err := c.Links().Read(b.ctx, made.ID)
		if err == nil && got.ID != made.ID {
			err = errors.New("another link was read than was made")
		}
		return err
	})
}

// disputes disputes a payment and reads the case. A payment is disputed once, so that each call has one of its own.
func (b *bench) disputes(s *site, callers int) error {
	n := serviceCalls * callers
	paid := make([]string, (1+b.turns)*b.turn(callers, n))
	var at atomic.Int64
	_, err := load(callers, len(paid), func() error {
		p, err := s.backend.Payments().Create(b.ctx, wire.NewKey(), payments.CreateRequest{
			Type: payments.Moto, Amount: 1250, CurrencyCode: "EUR", Processing: payments.ProcessSale,
			CardDetails: &payments.CardDetails{PAN: wire.NewPAN(testPAN), ExpiryYear: 2090, ExpiryMonth: 1},
		})
		paid[at.Add(1)-1] = p.PaymentID
		return err
	})
	if err != nil {
		return fmt.Errorf("payments to dispute: %w", err)
	}
	c := &disputes.Client{BaseURL: s.url, Doer: &bearer{caller(callers)}, Dir: b.dir}
	at.Store(0)
	return b.beside(s, "dispute create + read", callers, n, 1, func() error {
		made, err := c.Create(b.ctx, wire.NewKey(), disputes.CreateRequest{
			OperatorTransactionID: paid[at.Add(1)-1], OperatorDisputeReasonCode: "D002", Notes: "the customer says no",
			DisputeAmount: "1250", DisputeCurrency: "EUR", TransactionAmount: "1250", TransactionCurrency: "EUR", ClaimValidationRequired: disputes.Yes,
		})
		if err != nil {
			return err
		}
		got, err := c.List(b.ctx, disputes.ListRequest{CaseNumber: made.CaseNumber})
		if err == nil && len(got.Cases) != 1 {
			err = fmt.Errorf("%d cases of one number", len(got.Cases))
		}
		return err
	})
}

// hosted builds a session, fills its fields as a browser does, and finalizes it.
func (b *bench) hosted(s *site, callers int) error {
	web := caller(callers)
	c := &hosted.Client{BaseURL: s.url, APIKey: backend.DemoCredentials().APIKey, Doer: &web}
	return b.beside(s, "hosted build + 5 fields + finalize", callers, serviceCalls*callers, 1+fieldCommits+1, func() error {
		key := wire.NewKey()
		order := strings.ReplaceAll(string(key), "-", "")
		built, err := c.Sessions().Build(b.ctx, key, hosted.BuildRequest{
			MerchantURL: "https://shop.example", Order: hosted.Order{OrderID: order[len(order)-27:], Amount: "5000", Currency: "EUR"},
			PaymentSession: hosted.Session{
				ActionType: hosted.Pay, Amount: "5000", Language: "eng", PaymentService: hosted.CardService,
				ResultURL: "https://shop.example/result", CancelURL: "https://shop.example/cancel",
			},
		})
		if err != nil {
			return err
		}
		if len(built.Fields) != fieldCommits {
			return fmt.Errorf("%d fields of a card", len(built.Fields))
		}
		for _, f := range built.Fields {
			if err := b.fillField(&web, s, f); err != nil {
				return fmt.Errorf("%s: %w", f.ID, err)
			}
		}
		state, err := c.Sessions().Finalize(b.ctx, wire.NewKey(), built.SessionID, "")
		if err == nil && (state.Operation == nil || state.Operation.OperationResult != hosted.Executed) {
			err = fmt.Errorf("a payment ended as %s", state.State)
		}
		return err
	})
}

// card is what a customer types into a field.
func card(id string) string {
	switch id {
	case "CARD_NUMBER":
		return testPAN
	case "EXPIRATION_DATE":
		return "12/90"
	case "SECURITY_CODE":
		return "123"
	case "CARDHOLDER_NAME":
		return "A Customer"
	}
	return "customer@shop.example"
}

// fieldToken stands in a field's page.
var fieldToken = regexp.MustCompile(`data-token="([^"]+)"`)

// fillField opens a field and sends what belongs there.
func (b *bench) fillField(web *http.Client, s *site, f hosted.Field) error {
	page, err := b.browse(web, http.MethodGet, f.Src, "", nil)
	if err != nil {
		return err
	}
	token := fieldToken.FindSubmatch(page)
	if token == nil {
		return errors.New("the page has no token")
	}
	said, err := b.browse(web, http.MethodPost, f.Src, s.url, url.Values{"token": {string(token[1])}, "value": {card(f.ID)}})
	if err != nil {
		return err
	}
	var m struct {
		Event string `json:"event"`
	}
	if err := json.Unmarshal(said, &m); err != nil {
		return err
	}
	if m.Event != "BUILD_SUCCESS" {
		return fmt.Errorf("the field says %s", m.Event)
	}
	return nil
}

// browse sends what a page sends and reads the answer.
func (b *bench) browse(web *http.Client, method, to, origin string, form url.Values) (_ []byte, err error) {
	req, err := http.NewRequestWithContext(b.ctx, method, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if origin != "" {
		req.Header.Set("Origin", origin)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", method, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, 1<<20))
}
