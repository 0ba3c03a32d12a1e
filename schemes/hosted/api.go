package hosted

import (
	"context"
	"net/http"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Sessions are the payment sessions (S2 4). key "" means that the caller gave none; with a key, the same call with the same
// body has one effect and one answer, and with another body is wire.KeyReused. Every call ends in one of:
//
//  1. its result;
//  2. wire.Invalid with a reason (errors.go): the request breaks a rule; nothing happened;
//  3. wire.NotFound: no such session;
//  4. wire.Conflict with a reason: the state of the session or order forbids it; nothing happened;
//  5. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  6. wire.Unavailable: provably not sent, or refused before any effect;
//  7. wire.UnknownOutcome, Internal: of a write, the effect is not known: State tells.
type Sessions interface {
	// Build makes an order and a session of five minutes. An order may have several sessions, and is paid once at most.
	Build(ctx context.Context, key wire.Key, req BuildRequest) (Built, error)
	// Finalize pays, as soon as the session is READY_FOR_PAYMENT (SessionNotReady before); amount "" is the session's, another
	// one at most the order's. A refused payment is a result: PAYMENT_COMPLETE with its operation. Once it is under way the same
	// answer, as it stands, is given again.
	Finalize(ctx context.Context, key wire.Key, sessionID string, amount Text) (SessionState, error)
	// Cancel ends a session that is not complete; every further call on it is SessionCanceled.
	Cancel(ctx context.Context, key wire.Key, sessionID string) (SessionState, error)
	// State reads a session.
	State(ctx context.Context, sessionID string) (SessionState, error)
	// Card reads what may be known of the card that was filled in; SessionNotReady where none was.
	Card(ctx context.Context, sessionID string) (CardData, error)
}

// Orders are what is done with orders later. Outcomes are those of Sessions; captures, refunds and cancels want a key.
type Orders interface {
	// Methods lists the ways to pay.
	Methods(ctx context.Context) (MethodList, error)
	// Order reads an order with its operations.
	Order(ctx context.Context, orderID string) (Report, error)
	// Capture collects of an authorization, all of it or a part.
	Capture(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error)
	// Refund gives captured money back, all of it or a part. The operation is the authorization's or a capture's.
	Refund(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error)
	// Cancel undoes an operation: an authorization (VOID), a capture or a refund (CANCEL).
	Cancel(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error)
}

// Prefix is where a Client calls; a Handler knows the other ways to write it.
const Prefix = "/api/v1/api"

// Headers of the service.
const (
	KeyHeader         = "X-API-KEY"      // the merchant's key
	CorrelationHeader = "Correlation-Id" // on every call
)

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{
	Prefix: Prefix, Aliases: []string{"/api/phoenix-0.0/psp/api/v1", "/psp/api/v1", "/api/v1"},
	First: []string{"orders", "build", "operations", "payment_methods"},
	Shape: shape{}, Accept: accept, Reason: reason,
}

// What the requests are about.
type (
	ofSession struct {
		ID string `query:"sessionId" json:"-" max:"64"`
	}
	ofOrder struct {
		ID string `path:"orderId" json:"-" max:"64"`
	}
	// sessionCall is the body of finalize, confirm and cancel.
	sessionCall struct {
		SessionID string `json:"sessionId" wire:"required"`
		Amount    Text   `json:"amount,omitempty"` // of confirm
	}
	ofOperation struct {
		ID string `path:"operationId" json:"-" max:"64"`
		PostRequest
	}
)

var (
	build = rest.Endpoint[Sessions, BuildRequest, Built]{
		Op: "hosted.build", What: "make an order and a payment session",
		Example: `{"merchantUrl":"https://shop.example","order":{"orderId":"order7","amount":"1250","currency":"EUR"},` +
			`"paymentSession":{"actionType":"PAY","amount":"1250","language":"eng","resultUrl":"https://shop.example/result",` +
			`"cancelUrl":"https://shop.example/cancel","notificationUrl":"https://shop.example/notify"},"version":"3"}`,
		Method: http.MethodPost, Path: "/orders/build", Status: http.StatusOK, Wants: rest.Write, Do: Sessions.Build,
	}
	finalize = finalizing("/build/finalize_payment", "pay")
	confirm  = finalizing("/build/confirm_payment", "pay another amount")
	end      = rest.Endpoint[Sessions, sessionCall, SessionState]{
		Op: "hosted.cancel", What: "end a session", Example: sample,
		Method: http.MethodPost, Path: "/build/cancel", Status: http.StatusOK, Wants: rest.Write | rest.CheckFirst,
		Do: func(svc Sessions, ctx context.Context, key wire.Key, in sessionCall) (SessionState, error) {
			return warned(svc.Cancel(ctx, key, in.SessionID))
		},
	}
	state = rest.Endpoint[Sessions, ofSession, SessionState]{
		Op: "hosted.state", What: "read a session",
		Method: http.MethodGet, Path: "/build/state", Status: http.StatusOK, Wants: rest.CheckFirst,
		Do: func(svc Sessions, ctx context.Context, _ wire.Key, in ofSession) (SessionState, error) {
			return svc.State(ctx, in.ID)
		},
	}
	card = rest.Endpoint[Sessions, ofSession, CardData]{
		Op: "hosted.card", What: "read what may be known of the card",
		Method: http.MethodGet, Path: "/build/cardData", Status: http.StatusOK, Wants: rest.CheckFirst,
		Do: func(svc Sessions, ctx context.Context, _ wire.Key, in ofSession) (CardData, error) {
			return svc.Card(ctx, in.ID)
		},
	}

	methods = rest.Endpoint[Orders, struct{}, MethodList]{
		Op: "hosted.methods", What: "list the ways to pay",
		Method: http.MethodGet, Path: "/payment_methods", Status: http.StatusOK,
		Do: func(svc Orders, ctx context.Context, _ wire.Key, _ struct{}) (MethodList, error) {
			return svc.Methods(ctx)
		},
	}
	order = rest.Endpoint[Orders, ofOrder, Report]{
		Op: "hosted.order", What: "read an order with its operations",
		Method: http.MethodGet, Path: "/orders/{orderId}", Status: http.StatusOK,
		Do: func(svc Orders, ctx context.Context, _ wire.Key, in ofOrder) (Report, error) {
			return svc.Order(ctx, in.ID)
		},
		Flaw: func(in ofOrder, out Report) string {
			if out.OrderStatus.Order.OrderID != in.ID {
				return "reply is about another order"
			}
			return ""
		},
	}
	capture = posting("hosted.capture", "/captures", "collect of an authorization", `{"amount":"1250","currency":"EUR"}`, Orders.Capture)
	refund  = posting("hosted.refund", "/refunds", "give captured money back", `{"amount":"250","currency":"EUR","description":"one item came back"}`, Orders.Refund)
	undo    = posting("hosted.undo", "/cancels", "undo an operation", `{"description":"out of stock"}`, Orders.Cancel)
)

// sample is the body of what names a session and nothing else.
const sample = `{"sessionId":"052211e8-54c8-4e0a-8402-e10bcb8ff264"}`

// finalizing is a route that pays.
func finalizing(path, what string) rest.Endpoint[Sessions, sessionCall, SessionState] {
	return rest.Endpoint[Sessions, sessionCall, SessionState]{
		Op: "hosted.finalize", What: what, Example: sample,
		Method: http.MethodPost, Path: path, Status: http.StatusOK, Wants: rest.Write | rest.CheckFirst,
		Do: func(svc Sessions, ctx context.Context, key wire.Key, in sessionCall) (SessionState, error) {
			return warned(svc.Finalize(ctx, key, in.SessionID, in.Amount))
		},
	}
}

// warned is an answer with its list of warnings, which finalize and cancel always have (S2 4).
func warned(s SessionState, err error) (SessionState, error) {
	if s.Warnings == nil {
		s.Warnings = []Warning{}
	}
	return s, err
}

// posting is a route of an operation.
func posting(op, path, what, example string, do func(Orders, context.Context, wire.Key, string, PostRequest) (Posted, error)) rest.Endpoint[Orders, ofOperation, Posted] {
	return rest.Endpoint[Orders, ofOperation, Posted]{
		Op: op, What: what, Example: example,
		Method: http.MethodPost, Path: "/operations/{operationId}" + path, Status: http.StatusOK, Wants: rest.Write | rest.NeedsKey | rest.MayBody | rest.EmptyArray,
		Do: func(svc Orders, ctx context.Context, key wire.Key, in ofOperation) (Posted, error) {
			return do(svc, ctx, key, in.ID, in.PostRequest)
		},
	}
}

// SessionsTable is the first half of the service, OrdersTable the other.
func SessionsTable() rest.Table[Sessions] {
	return rest.Table[Sessions]{build, finalize, confirm, end, state, card}
}

// OrdersTable is the other half.
func OrdersTable() rest.Table[Orders] {
	return rest.Table[Orders]{methods, order, capture, refund, undo}
}

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions = rest.Options

// Handler serves the two halves of the service. Authentication, Host checks and time limits are the caller's.
func Handler(sessions Sessions, orders Orders, opts HandlerOptions) http.Handler {
	return api.Handler(opts, SessionsTable().Bind(sessions), OrdersTable().Bind(orders))
}

// Client is the service over HTTP. It works as soon as its fields are set. It sends each call once; whether to send again is
// the caller's decision, by code.
type Client struct {
	BaseURL string // scheme and host, and a path before /api if there is one
	APIKey  wire.Secret
	Doer    wire.Doer
}

// Sessions is one half of the service, Orders the other.
func (c *Client) Sessions() Sessions { return (*sessionClient)(c) }

// Orders is the other half.
func (c *Client) Orders() Orders { return (*orderClient)(c) }

type (
	sessionClient Client
	orderClient   Client
)

var (
	_ Sessions = (*sessionClient)(nil)
	_ Orders   = (*orderClient)(nil)
)

func (c *Client) to() rest.Client {
	return rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer, Secrets: []string{c.APIKey.Reveal()}, Head: func(h http.Header) {
		h.Set(CorrelationHeader, string(wire.NewKey()))
		if c.APIKey != "" {
			h.Set(KeyHeader, c.APIKey.Reveal())
		}
	}}
}

func (c *sessionClient) to() rest.Client { return (*Client)(c).to() }
func (c *orderClient) to() rest.Client   { return (*Client)(c).to() }

// Build implements Sessions.
func (c *sessionClient) Build(ctx context.Context, key wire.Key, req BuildRequest) (Built, error) {
	return build.Call(ctx, c.to(), key, req)
}

// Finalize implements Sessions.
func (c *sessionClient) Finalize(ctx context.Context, key wire.Key, sessionID string, amount Text) (SessionState, error) {
	if amount != "" {
		return confirm.Call(ctx, c.to(), key, sessionCall{sessionID, amount})
	}
	return finalize.Call(ctx, c.to(), key, sessionCall{sessionID, ""})
}

// Cancel implements Sessions.
func (c *sessionClient) Cancel(ctx context.Context, key wire.Key, sessionID string) (SessionState, error) {
	return end.Call(ctx, c.to(), key, sessionCall{sessionID, ""})
}

// State implements Sessions.
func (c *sessionClient) State(ctx context.Context, sessionID string) (SessionState, error) {
	return state.Call(ctx, c.to(), "", ofSession{sessionID})
}

// Card implements Sessions.
func (c *sessionClient) Card(ctx context.Context, sessionID string) (CardData, error) {
	return card.Call(ctx, c.to(), "", ofSession{sessionID})
}

// Methods implements Orders.
func (c *orderClient) Methods(ctx context.Context) (MethodList, error) {
	return methods.Call(ctx, c.to(), "", struct{}{})
}

// Order implements Orders.
func (c *orderClient) Order(ctx context.Context, orderID string) (Report, error) {
	return order.Call(ctx, c.to(), "", ofOrder{orderID})
}

// Capture implements Orders.
func (c *orderClient) Capture(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error) {
	return capture.Call(ctx, c.to(), key, ofOperation{operationID, req})
}

// Refund implements Orders.
func (c *orderClient) Refund(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error) {
	return refund.Call(ctx, c.to(), key, ofOperation{operationID, req})
}

// Cancel implements Orders.
func (c *orderClient) Cancel(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error) {
	return undo.Call(ctx, c.to(), key, ofOperation{operationID, req})
}
