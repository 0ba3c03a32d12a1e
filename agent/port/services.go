package port

import (
	"net/http"
	"net/url"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/methods"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// Service is a service that local clients reach through the port.
type Service struct{ mount func(*api) mount }

// byProblem makes the mount of a service of S0.
func (a *api) byProblem(m mount, h http.Handler) mount {
	m.proof, m.body, m.errors = byToken, jsonBody, problemBody
	m.handler = a.calling(wire.MaxRequest, a.authorized(a.problem, theirs(login, true, a.problem, h)))
	return m
}

// byFault makes the mount of a scheme service.
func (a *api) byFault(m mount, h http.Handler) mount {
	fail := func(w http.ResponseWriter, _ *http.Request, e *wire.Error) {
		wire.WriteFault(w, a.o.Log, aapay.ContentType, e)
	}
	m.proof, m.body, m.errors = byToken, jsonBody, jsonBody
	m.handler = a.calling(wire.MaxRequest, a.authorized(fail, theirs(login, true, fail, h)))
	return m
}

// operationURL is where a write that is stored (202) is asked for.
func operationURL(key wire.Key) string {
	return housePrefix + "operations/" + url.PathEscape(string(key))
}

// Payments mounts the payment service; operator is its own spelling of ProviderHosted.
func Payments(svc payments.Service, operator string) Service {
	return Service{func(a *api) mount {
		return a.byProblem(mount{name: "payments", is: payments.API().Is, routes: `POST 201,202 /api/v1/payments create a payment
			GET 200 /api/v1/payments/{paymentId} read a payment
			POST 200,202 /api/v1/payments/{paymentId}/Authorize reserve
			POST 200,202 /api/v1/payments/{paymentId}/Cancel give a reservation up
			POST 200,202 /api/v1/payments/{paymentId}/Capture collect
			POST 200,202 /api/v1/payments/{paymentId}/Refund give back`,
		}, payments.Handler(allowedPayments{svc}, payments.HandlerOptions{Log: a.o.Log, Operator: operator, OperationURL: operationURL}))
	}}
}

// Tokens mounts the tokenization service.
func Tokens(svc tokens.Service) Service {
	return Service{func(a *api) mount {
		return a.byProblem(mount{name: "tokens", is: tokens.API().Is, routes: `POST 201,202 /api/v1/tokens store card details
			POST 201,202 /api/v1/tokens/recurring store the terms of a recurring payment
			POST 200,202 /api/v1/tokens/{tokenizationId}/Verify ask the card's bank
			GET 200 /api/v1/tokens/{tokenizationId} read the token`,
		}, tokens.Handler(allowedTokens{svc}, tokens.HandlerOptions{Log: a.o.Log, OperationURL: operationURL}))
	}}
}

// Hosted mounts the hosted build service, whose callers show the token as their X-API-KEY.
func Hosted(sessions hosted.Sessions, orders hosted.Orders) Service {
	return Service{func(a *api) mount {
		h := hosted.Handler(sessions, orders, hosted.HandlerOptions{Log: a.o.Log})
		return mount{name: "hosted build", proof: byKey, body: jsonBody, errors: jsonBody, is: hosted.API().Is,
			handler: a.calling(wire.MaxRequest, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fail := func(w http.ResponseWriter, _ *http.Request, e *wire.Error) { hosted.WriteError(w, a.o.Log, e) }
				var c *account
				if list := r.Header.Values(hosted.KeyHeader); len(list) == 1 {
					c = a.holder(list[0])
				}
				if c == nil {
					a.stranger(w, r, fail)
					return
				}
				a.conns.proven(r)
				c.paced(w, r, fail, theirs("api_key", true, fail, h))
			})),
			routes: `POST 200 /api/v1/api/orders/build make an order and its payment session
				POST 200 /api/v1/api/build/finalize_payment pay
				POST 200 /api/v1/api/build/confirm_payment pay another amount
				POST 200 /api/v1/api/build/cancel end a session
				GET 200 /api/v1/api/build/state ?sessionId read a session
				GET 200 /api/v1/api/build/cardData ?sessionId what may be known of its card
				GET 200 /api/v1/api/payment_methods the ways to pay
				GET 200 /api/v1/api/orders/{orderId} read an order
				POST 200 /api/v1/api/operations/{operationId}/captures collect
				POST 200 /api/v1/api/operations/{operationId}/refunds give back
				POST 200 /api/v1/api/operations/{operationId}/cancels undo`}
	}}
}

// Notices mounts the receiver of hosted build's notifications, whose securityToken is their proof.
func Notices(h http.Handler) Service {
	return Service{func(*api) mount {
		return mount{name: "notifications", body: jsonBody, errors: jsonBody, at: []string{NoticesPath},
			handler: http.MaxBytesHandler(proving(h), wire.MaxRequest), routes: "POST 200 " + NoticesPath + " take a notification over"}
	}}
}

// Onboarding mounts the onboarding service.
func Onboarding(svc onboarding.Service) Service {
	return Service{func(a *api) mount {
		return a.byProblem(mount{name: "onboarding", is: onboarding.API().Is, routes: `POST 201 /api/v1/onboarding/applications make an application
			GET 200 /api/v1/onboarding/applications/{onboardingId} read an application
			PUT 200 /api/v1/onboarding/applications/{onboardingId} replace it while it is new
			POST 200 /api/v1/onboarding/applications/{onboardingId}/submit send it to be signed`,
		}, onboarding.Handler(svc, onboarding.HandlerOptions{Log: a.o.Log}))
	}}
}

// Schemes mounts the alternative schemes' transaction service.
func Schemes(svc aapay.Service) Service {
	return Service{func(a *api) mount {
		return a.byFault(mount{name: "schemes", at: []string{aapay.Prefix}, routes: `POST 202 /ms/aapay/v2/transaction/{type}/initialize start a transaction
			POST 202 /ms/aapay/v2/transaction/{type}/initializeWithIdempotency start a transaction under a key
			GET 200 /ms/aapay/v2/transaction/{id}/status ?method read a transaction`,
		}, aapay.Handler(svc, aapay.HandlerOptions{Log: a.o.Log}))
	}}
}

// Methods mounts the method definitions.
func Methods(svc methods.Service) Service {
	return Service{func(a *api) mount {
		return a.byFault(mount{name: "methods", at: []string{methods.Prefix},
			routes: `GET 200 /ms/naa/terminal/method/list/{baxId}/{terminalId} ?exclude,caller,lang the definitions of a terminal's methods`,
		}, methods.Handler(allowedMethods{svc}, methods.HandlerOptions{Log: a.o.Log}))
	}}
}

const (
	maxLinkBody = 17 << 20 // a link's create may carry attachments of 16 MiB
	maxLarge    = 2        // of them at a time: they lie on the disk before anybody is known
)

// few lets a few large bodies in at a time, and all small ones.
func few(why string, fail shape, h http.Handler) http.Handler {
	large := make(chan struct{}, maxLarge)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > wire.MaxRequest || r.ContentLength < 0 {
			select {
			case large <- struct{}{}:
				defer func() { <-large }()
			default:
				unread(w, r)
				fail(w, r, &wire.Error{Code: wire.Unavailable, Msg: why, RetryAfter: 2 * time.Second})
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}

// Disputes mounts the dispute service; operator is its own spelling of the provider… fields.
func Disputes(svc disputes.Service, keys disputes.Keys, operator string) Service {
	return Service{func(a *api) mount {
		h := disputes.Handler(svc, keys, disputes.HandlerOptions{Log: a.o.Log, Dir: a.o.Dir, Operator: operator})
		h = a.authorized(a.problem, few("others send documents", a.problem, theirs(login, true, a.problem, h)))
		return mount{name: "disputes", proof: byToken, body: jsonBody, errors: problemBody, is: disputes.Is,
			handler: a.calling(disputes.MaxBody+1, h),
			routes: `POST 200 /api/v1/disputes dispute a card transaction
				POST 200 /api/v1/disputes/list find cases
				POST 200 /api/v1/disputes/list-cases-by-queue list the cases of a queue
				PATCH 200 /api/v1/disputes/{disputeId} move a case, add to it
				GET 200 /api/v1/disputes/document/{documentId} ?encoding,sizeLimit fetch a document
				GET 200 /api/v1/disputes/key the public key for card numbers`}
	}}
}

// Links mounts the payment links of one account; instance "" = under any name. A client with a token of its own names the account,
// or itself, as the instance and signs with its token.
func Links(links paylinks.Links, txns paylinks.Transactions, instance string) Service {
	return Service{func(a *api) mount {
		secret := func(name string) (wire.Secret, error) {
			if c := a.named(name, instance); c != nil {
				return c.Token, nil
			}
			return "", nil
		}
		fail := func(w http.ResponseWriter, _ *http.Request, e *wire.Error) { paylinks.WriteError(w, a.o.Log, e) }
		h := paylinks.Handler(allowedLinks{links}, allowedTransactions{txns}, paylinks.HandlerOptions{
			Log: a.o.Log, Secret: secret, Others: func(name string) []wire.Secret { return a.others(name, instance) }, Dir: a.o.Dir, OperationURL: operationURL,
			Proven: func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
				answer := w.(*refused)
				answer.proven = true
				a.conns.proven(r)
				a.holder(paylinks.Proof(r.Context()).Reveal()).paced(w, r, fail, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					answer.ctx = r.Context()
					serve(w, r)
				}))
			},
		})
		return mount{name: "payment links", proof: bySignature, body: formBody, errors: jsonBody,
			at:      []string{paylinks.Prefix, paylinks.ShortPrefix},
			handler: few("others send attachments", fail, a.calling(maxLinkBody, theirs("instance and secret", false, fail, h))),
			routes: `GET 200 /v1.0/SignatureCheck/ ?instance are instance and secret right
				POST 200,202 /v1.0/Invoice/ ?instance make a link
				GET 200 /v1.0/Invoice/{id}/ ?instance read a link
				DELETE 200,202 /v1.0/Invoice/{id}/ ?instance take a link back
				GET 200 /v1.0/Transaction/ ?instance list transactions
				GET 200 /v1.0/Transaction/{id}/ ?instance read a transaction
				POST 200,202 /v1.0/Transaction/{id}/ ?instance collect
				POST 200,202 /v1.0/Transaction/{id}/charge ?instance the same
				POST 200,202 /v1.0/Transaction/{id}/capture ?instance collect all
				POST 200,202 /v1.0/Transaction/{id}/refund ?instance give back
				DELETE 200,202 /v1.0/Transaction/{id}/ ?instance cancel a reservation`}
	}}
}
