package tokens

import (
	"context"
	"net/http"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Service is the tokenization service (S0 4.2). key "" means that the caller gave none; with a key, the same call with
// the same body has one effect and one answer, and with another body is wire.KeyReused. Every write ends in one of:
//
//  1. its result; Operation is set where the call is stored and not yet answered by the backend;
//  2. wire.Invalid: the request breaks a rule, or the card is refused (Reason says so, errors.go); no token came of it;
//  3. wire.NotFound (Verify): no such tokenization;
//  4. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  5. wire.Unavailable: provably not sent, or refused before any effect;
//  6. wire.UnknownOutcome, Internal: the effect is not known. Sending it again is safe: an orphan token moves no money.
type Service interface {
	// Create stores card details.
	Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error)
	// CreateRecurring stores the terms of a recurring payment.
	CreateRecurring(ctx context.Context, key wire.Key, req RecurringRequest) (Created, error)
	// Verify asks the card's bank whether the card is good: CardNotAccepted or CardExpired where it is not.
	Verify(ctx context.Context, key wire.Key, tokenizationID string) (Created, error)
	// Token reads the token: the token; wire.NotFound: no such tokenization; wire.Invalid with Reason CardMissing,
	// CardNotAccepted or CardExpired: there is none; any other error: nothing is known.
	Token(ctx context.Context, tokenizationID string) (TokenReply, error)
}

// Prefix is the service's path (S0 4.2), in any case of letters, with and without a slash at its end.
const Prefix = "/api/v1/tokens"

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{Prefix: Prefix, Fold: true, Shape: shape{rest.Problems{Catalogue: Problems()}}}

// about names a tokenization.
type about struct {
	ID string `path:"tokenizationId" json:"-"`
}

// may is what a caller of any of them may: a token is what a payment is made with.
var may = []string{wire.MayTokens}

var (
	create = rest.Endpoint[Service, CreateRequest, Created]{
		Op: "tokens.create", What: "store card details",
		Example: `{"description":"card of the subscription","returnUrl":"https://shop.example/thanks",` +
			`"cardDetails":{"pan":"4111111111111111","expiryYear":2031,"expiryMonth":12,"validationCode":"123"}}`,
		Method: http.MethodPost, Path: "", Status: http.StatusCreated, Wants: rest.Write, May: may, Do: Service.Create,
	}
	recurring = rest.Endpoint[Service, RecurringRequest, Created]{
		Op: "tokens.recurring", What: "store the terms of a recurring payment",
		Example: `{"recurringType":"Subscription","amount":1250,"currencyCode":"EUR","recurringExpiryDate":"2031-12-31","recurringFrequency":28,` +
			`"returnUrl":"https://shop.example/thanks"}`,
		Method: http.MethodPost, Path: "/recurring", Status: http.StatusCreated, Wants: rest.Write, May: may, Do: Service.CreateRecurring,
	}
	verify = rest.Endpoint[Service, about, Created]{
		Op: "tokens.verify", What: "ask the card's bank",
		Method: http.MethodPost, Path: "/{tokenizationId}/Verify", Status: http.StatusOK, Wants: rest.Write, May: may,
		Do: func(svc Service, ctx context.Context, key wire.Key, in about) (Created, error) {
			return svc.Verify(ctx, key, in.ID)
		},
		Flaw: func(in about, out Created) string {
			if !same(in.ID, out.TokenizationID) {
				return "reply is about another tokenization"
			}
			return ""
		},
	}
	token = rest.Endpoint[Service, about, TokenReply]{
		Op: "tokens.token", What: "read the token",
		Method: http.MethodGet, Path: "/{tokenizationId}", Status: http.StatusOK, May: may,
		Do: func(svc Service, ctx context.Context, _ wire.Key, in about) (TokenReply, error) {
			return svc.Token(ctx, in.ID)
		},
	}
)

// Table is the service.
func Table() rest.Table[Service] { return rest.Table[Service]{&create, &recurring, &verify, &token} }

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions = rest.Options

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	return api.Handler(opts, Table().Bind(svc))
}

// Client is the Service over HTTP. It works as soon as BaseURL and Doer are set. It sends each call once;
// whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL string // scheme and host, and a path before /api if there is one
	Doer    wire.Doer
}

var _ Service = (*Client)(nil)

func (c *Client) to() rest.Client {
	return rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer}
}

// Create implements Service.
func (c *Client) Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error) {
	return create.Call(ctx, c.to(), key, req)
}

// CreateRecurring implements Service.
func (c *Client) CreateRecurring(ctx context.Context, key wire.Key, req RecurringRequest) (Created, error) {
	return recurring.Call(ctx, c.to(), key, req)
}

// Verify implements Service.
func (c *Client) Verify(ctx context.Context, key wire.Key, tokenizationID string) (Created, error) {
	return verify.Call(ctx, c.to(), key, about{tokenizationID})
}

// Token implements Service.
func (c *Client) Token(ctx context.Context, tokenizationID string) (TokenReply, error) {
	return token.Call(ctx, c.to(), "", about{tokenizationID})
}
