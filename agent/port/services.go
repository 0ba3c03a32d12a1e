package port

import (
	"net/http"
	"net/url"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/contracts"
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
	m.handler = a.calling(wire.MaxRequest, a.authorized(a.problem, theirs(login, true, a.problem, h)))
	return m
}

// byFault makes the mount of a scheme service.
func (a *api) byFault(m mount, h http.Handler) mount {
	fail := func(w http.ResponseWriter, _ *http.Request, e *wire.Error) {
		wire.WriteFault(w, a.o.Log, aapay.ContentType, e)
	}
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
		g := contracts.Payments()
		o := payments.HandlerOptions{Log: a.o.Log, Operator: operator, OperationURL: operationURL, Around: asking(g.Infos)}
		return a.byProblem(mount{Group: g, is: payments.API().Is}, payments.Handler(svc, o))
	}}
}

// Tokens mounts the tokenization service.
func Tokens(svc tokens.Service) Service {
	return Service{func(a *api) mount {
		g := contracts.Tokens()
		o := tokens.HandlerOptions{Log: a.o.Log, OperationURL: operationURL, Around: asking(g.Infos)}
		return a.byProblem(mount{Group: g, is: tokens.API().Is}, tokens.Handler(svc, o))
	}}
}

// Hosted mounts the hosted build service, whose callers show the token as their X-API-KEY.
func Hosted(sessions hosted.Sessions, orders hosted.Orders) Service {
	return Service{func(a *api) mount {
		h := hosted.Handler(sessions, orders, hosted.HandlerOptions{Log: a.o.Log})
		return mount{
			Group: contracts.Hosted(), is: hosted.API().Is,
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
		}
	}}
}

// Notices mounts the receiver of hosted build's notifications, whose securityToken is their proof.
func Notices(h http.Handler) Service {
	return Service{func(*api) mount {
		return mount{Group: contracts.Notices(NoticesPath), at: []string{NoticesPath}, handler: http.MaxBytesHandler(proving(h), wire.MaxRequest)}
	}}
}

// Onboarding mounts the onboarding service.
func Onboarding(svc onboarding.Service) Service {
	return Service{func(a *api) mount {
		return a.byProblem(mount{Group: contracts.Onboarding(), is: onboarding.API().Is}, onboarding.Handler(svc, onboarding.HandlerOptions{Log: a.o.Log}))
	}}
}

// Schemes mounts the alternative schemes' transaction service.
func Schemes(svc aapay.Service) Service {
	return Service{func(a *api) mount {
		return a.byFault(mount{Group: contracts.Schemes(), at: aapay.API().Roots()}, aapay.Handler(svc, aapay.HandlerOptions{Log: a.o.Log}))
	}}
}

// Methods mounts the method definitions.
func Methods(svc methods.Service) Service {
	return Service{func(a *api) mount {
		g := contracts.Methods()
		return a.byFault(mount{Group: g, at: methods.API().Roots()}, methods.Handler(svc, methods.HandlerOptions{Log: a.o.Log, Around: asking(g.Infos)}))
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
		return mount{Group: contracts.Disputes(), is: disputes.API().Is, handler: a.calling(disputes.MaxBody+1, h)}
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
		g := contracts.Links()
		h := paylinks.Handler(links, txns, paylinks.HandlerOptions{
			Log: a.o.Log, Around: asking(g.Infos), Secret: secret, Others: func(name string) []wire.Secret { return a.others(name, instance) }, Dir: a.o.Dir, OperationURL: operationURL,
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
		return mount{
			Group: g, at: paylinks.API().Roots(),
			handler: few("others send attachments", fail, a.calling(maxLinkBody, theirs("instance and secret", false, fail, h))),
		}
	}}
}
