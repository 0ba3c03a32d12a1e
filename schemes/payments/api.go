package payments

import (
	"context"
	"net/http"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Service is the payment service (S0 4.1). key "" means that the caller gave none; with a key, the same call with the same
// body has one effect and one answer, and with another body is wire.KeyReused. Every write ends in one of:
//
//  1. its result; Operation is set where the call is stored and not yet answered by the backend;
//  2. wire.Invalid: the request breaks a rule (Reason may say which); nothing happened;
//  3. wire.NotFound: no such payment;
//  4. wire.Conflict: the state of the payment, or its card, forbids it; Reason says why (errors.go); nothing happened,
//     beside what the reason itself names (a declined card is recorded);
//  5. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  6. wire.Unavailable: provably not sent, or refused before any effect;
//  7. wire.UnknownOutcome, Internal: the effect is not known: Read, or the same call under the same key.
type Service interface {
	// Create makes a payment. PayPageURL may be empty where no page is needed (Moto, a payment with a token); there, Processing
	// happens at once, and a refused card is a Conflict. Elsewhere it happens when the customer pays at the page.
	Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error)
	// Authorize reserves money on a created payment (S0 3), whether its page was visited or not: once (AlreadyReserved), and at
	// most the payment's amount (OverCharge).
	Authorize(ctx context.Context, key wire.Key, paymentID string, req AuthorizeRequest) (Done, error)
	// Cancel gives a reservation up, while no money of it was captured (AlreadyCharged after that).
	Cancel(ctx context.Context, key wire.Key, paymentID string, req CancelRequest) (Done, error)
	// Capture collects reserved money, all of it or a part, as often as something is left (OverCharge).
	Capture(ctx context.Context, key wire.Key, paymentID string, req CaptureRequest) (Done, error)
	// Refund gives captured money back, all of it or a part (InvalidRefundAmount).
	Refund(ctx context.Context, key wire.Key, paymentID string, req RefundRequest) (Done, error)
	// Read reads a payment: the payment, wire.NotFound, or any other error: nothing is known.
	Read(ctx context.Context, paymentID string) (Payment, error)
}

// Prefix is the service's path (S0 4.1), in any case of letters, with and without a slash at its end.
const Prefix = "/api/v1/payments"

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{Prefix: Prefix, Fold: true, Shape: rest.Problems{Catalogue: Problems()}}

// about names a payment.
type about struct {
	ID string `path:"paymentId" json:"-"`
}

func (a about) id() string { return a.ID }

// The requests of the operations on a payment.
type (
	authorizing struct {
		about
		AuthorizeRequest
	}
	cancelling struct {
		about
		CancelRequest
	}
	capturing struct {
		about
		CaptureRequest
	}
	refunding struct {
		about
		RefundRequest
	}
)

// pay is what a caller may who takes money, and who gives up what was reserved.
var pay = []string{wire.MayPay}

var (
	create = rest.Endpoint[Service, CreateRequest, Created]{
		Op: "payments.create", What: "create a payment",
		Example: `{"type":"ProviderHostedEcom","amount":1250,"currencyCode":"EUR","processing":"Authorize","paymentNumber":"order7",` +
			`"redirectUrls":{"returnUrl":"https://shop.example/thanks"}}`,
		Method: http.MethodPost, Path: "", Status: http.StatusCreated, Also: []int{http.StatusOK}, Wants: rest.Write, May: pay, Do: Service.Create,
	}
	read = rest.Endpoint[Service, about, Payment]{
		Op: "payments.read", What: "read a payment",
		Method: http.MethodGet, Path: "/{paymentId}", Status: http.StatusOK, May: []string{wire.MayRead},
		Do: func(svc Service, ctx context.Context, _ wire.Key, in about) (Payment, error) {
			return svc.Read(ctx, in.ID)
		},
		Flaw: func(in about, out Payment) string {
			if out.PaymentID == "" { // a foreign service does not say it
				return ""
			}
			return another(in.ID, out.PaymentID)
		},
	}
	authorize = operation("Authorize", "reserve", pay, `{"amount":1250}`, func(svc Service, ctx context.Context, key wire.Key, in authorizing) (Done, error) {
		return svc.Authorize(ctx, key, in.ID, in.AuthorizeRequest)
	})
	cancel = operation("Cancel", "give a reservation up", pay, `{"description":"out of stock"}`, func(svc Service, ctx context.Context, key wire.Key, in cancelling) (Done, error) {
		return svc.Cancel(ctx, key, in.ID, in.CancelRequest)
	})
	capture = operation("Capture", "collect", pay, `{"amount":1250}`, func(svc Service, ctx context.Context, key wire.Key, in capturing) (Done, error) {
		return svc.Capture(ctx, key, in.ID, in.CaptureRequest)
	})
	refund = operation("Refund", "give back", []string{wire.MayRefund}, `{"amount":250,"description":"one item came back"}`, func(svc Service, ctx context.Context, key wire.Key, in refunding) (Done, error) {
		return svc.Refund(ctx, key, in.ID, in.RefundRequest)
	})
)

// operation makes the endpoint of an operation on a payment.
func operation[In interface{ id() string }](name, what string, may []string, example string, do func(Service, context.Context, wire.Key, In) (Done, error)) rest.Endpoint[Service, In, Done] {
	return rest.Endpoint[Service, In, Done]{
		Op: "payments." + strings.ToLower(name), What: what, Example: example,
		Method: http.MethodPost, Path: "/{paymentId}/" + name, Status: http.StatusOK, Also: []int{http.StatusCreated},
		Wants: rest.Write | rest.MayBody, May: may, Do: do,
		Flaw: func(in In, out Done) string { return another(in.id(), out.PaymentID) },
	}
}

// another says that a reply is about another payment than the one asked for, "" = it is not. A store-and-forward service answers
// one of its own ids ("L" and a Key) with the backend's once it knows it, and the other way round.
func another(asked, named string) string {
	if strings.EqualFold(asked, named) || wire.Local(asked) || wire.Local(named) {
		return ""
	}
	return "reply is about another payment"
}

// Table is the service.
func Table() rest.Table[Service] {
	return rest.Table[Service]{&create, &read, &authorize, &cancel, &capture, &refund}
}

// HandlerOptions adjusts a Handler. The zero value works. Operator "" means DefaultOperator.
type HandlerOptions = rest.Options

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	return api.Handler(opts, Table().Bind(svc))
}

// Client is the Service over HTTP. It works as soon as BaseURL and Doer are set. It sends each call once;
// whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL  string // scheme and host, and a path before /api if there is one
	Doer     wire.Doer
	Operator string // ProviderHosted is sent in its spelling; "" sends ProviderHostedEcom
}

var _ Service = (*Client)(nil)

func (c *Client) to() rest.Client {
	return rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer}
}

// Create implements Service.
func (c *Client) Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error) {
	if req.Type == ProviderHosted && c.Operator != "" && !strings.EqualFold(c.Operator, "provider") {
		req.Type = spelling(c.Operator)
	}
	return create.Call(ctx, c.to(), key, req)
}

// Authorize implements Service.
func (c *Client) Authorize(ctx context.Context, key wire.Key, paymentID string, req AuthorizeRequest) (Done, error) {
	return authorize.Call(ctx, c.to(), key, authorizing{about{paymentID}, req})
}

// Cancel implements Service.
func (c *Client) Cancel(ctx context.Context, key wire.Key, paymentID string, req CancelRequest) (Done, error) {
	return cancel.Call(ctx, c.to(), key, cancelling{about{paymentID}, req})
}

// Capture implements Service.
func (c *Client) Capture(ctx context.Context, key wire.Key, paymentID string, req CaptureRequest) (Done, error) {
	return capture.Call(ctx, c.to(), key, capturing{about{paymentID}, req})
}

// Refund implements Service.
func (c *Client) Refund(ctx context.Context, key wire.Key, paymentID string, req RefundRequest) (Done, error) {
	return refund.Call(ctx, c.to(), key, refunding{about{paymentID}, req})
}

// Read implements Service.
func (c *Client) Read(ctx context.Context, paymentID string) (Payment, error) {
	return read.Call(ctx, c.to(), "", about{paymentID})
}
