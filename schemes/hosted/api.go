package hosted

import (
	"context"
	"net/http"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
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
	// Cancel ends a session that is not complete: PAYMENT_COMPLETE with an operation whose result is CANCELED. Every further
	// call on it is SessionCanceled.
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
	// Cancel undoes an operation whole: an authorization (VOID), a capture or a refund (CANCEL). Another amount than the operation's is
	// refused.
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

// accept refuses a request without a good Correlation-Id, a Key that is none, and a body that is not JSON.
func accept(r *http.Request) error {
	if !correlated(r.Header.Values(CorrelationHeader)) {
		return wire.Errorf(wire.Invalid, "", "%s: want one, of the shape of a UUID", CorrelationHeader)
	}
	if r.Method == http.MethodGet {
		return nil
	}
	if _, err := wire.KeyFrom(r.Header); err != nil {
		return &wire.Error{Code: wire.Invalid, Reason: BadKey, Err: err}
	}
	_, err := wire.CheckJSON(r.Header.Get("Content-Type"))
	return err
}

// correlated checks a Correlation-Id: 8-4-4-4-12 hexadecimal digits.
func correlated(values []string) bool {
	if len(values) != 1 || len(values[0]) != 36 {
		return false
	}
	for i, b := range []byte(values[0]) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (b == '-') || !dash && strings.IndexByte("0123456789abcdefABCDEF", b) < 0 {
			return false
		}
	}
	return true
}

var api = rest.API{
	Prefix: Prefix, Aliases: []string{"/api/phoenix-0.0/psp/api/v1", "/psp/api/v1", "/api/v1"},
	First: []string{"orders", "build", "operations", "payment_methods"},
	Shape: shape{}, Accept: accept, Reason: reason,
}

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
	return rest.Table[Sessions]{&build, &finalize, &confirm, &end, &state, &card}
}

// OrdersTable is the other half.
func OrdersTable() rest.Table[Orders] {
	return rest.Table[Orders]{&methods, &order, &capture, &refund, &undo}
}

// Validate applies every stateless rule to a build request. The error is wire.Invalid with the reason of the first rule that is
// broken; it names every field that is wrong, never its content.
func (req BuildRequest) Validate() error { return refused(build.Op, check.Request(build.Op, req)) }

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions = rest.Options

// Handler serves the two halves of the service. Authentication, Host checks and time limits are the caller's.
func Handler(sessions Sessions, orders Orders, opts HandlerOptions) http.Handler {
	return api.Handler(opts, SessionsTable().Bind(sessions), OrdersTable().Bind(orders))
}
