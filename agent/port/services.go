package port

import (
	"net/http"

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
type Service struct{ mount func(*gateway) mount }

// byProblem makes the mount of a service of S0.
func (g *gateway) byProblem(m mount, h http.Handler) mount {
	m.handler = g.calling(wire.MaxRequest, g.authorized(g.problem, answered(loginS0, true, g.problem, h)))
	return m
}

// byFault makes the mount of a scheme service.
func (g *gateway) byFault(m mount, h http.Handler) mount {
	fail := func(w http.ResponseWriter, _ *http.Request, e *wire.Error) {
		wire.WriteFault(w, g.log, aapay.ContentType, e)
	}
	m.handler = g.calling(wire.MaxRequest, g.authorized(fail, answered(loginS1, true, fail, h)))
	return m
}

// Payments mounts the payment service; operator is its own spelling of ProviderHosted.
func Payments(svc payments.Service, operator string) Service {
	return Service{func(g *gateway) mount {
		group := contracts.Payments()
		o := payments.HandlerOptions{Log: g.log, Operator: operator, OperationURL: operationURL, Around: permit(group.Infos)}
		return g.byProblem(mount{Group: group, is: payments.API().Is}, payments.Handler(svc, o))
	}}
}

// Tokens mounts the tokenization service.
func Tokens(svc tokens.Service) Service {
	return Service{func(g *gateway) mount {
		group := contracts.Tokens()
		o := tokens.HandlerOptions{Log: g.log, OperationURL: operationURL, Around: permit(group.Infos)}
		return g.byProblem(mount{Group: group, is: tokens.API().Is}, tokens.Handler(svc, o))
	}}
}

// Hosted mounts the hosted build service, whose callers show the token as their X-API-KEY.
func Hosted(sessions hosted.Sessions, orders hosted.Orders) Service {
	return Service{func(g *gateway) mount {
		h := hosted.Handler(sessions, orders, hosted.HandlerOptions{Log: g.log})
		return mount{
			Group: contracts.Hosted(), is: hosted.API().Is,
			handler: g.calling(wire.MaxRequest, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fail := func(w http.ResponseWriter, _ *http.Request, e *wire.Error) { hosted.WriteError(w, g.log, e) }
				var c *client
				if list := r.Header.Values(hosted.KeyHeader); len(list) == 1 {
					c = g.byToken(list[0])
				}
				if c == nil {
					g.refuse(w, r, fail)
					return
				}
				g.conns.proven(r)
				c.paced(w, r, fail, answered("api_key", true, fail, h))
			})),
		}
	}}
}

// NoticesPath is where notifications of hosted build arrive.
const NoticesPath = "/hooks/notifications"

// Notices mounts the receiver of hosted build's notifications, whose securityToken is their proof.
func Notices(h http.Handler) Service {
	return Service{func(*gateway) mount {
		return mount{Group: contracts.Notices(NoticesPath), at: []string{NoticesPath}, handler: http.MaxBytesHandler(selfProving(h), wire.MaxRequest)}
	}}
}

// Onboarding mounts the onboarding service.
func Onboarding(svc onboarding.Service) Service {
	return Service{func(g *gateway) mount {
		return g.byProblem(mount{Group: contracts.Onboarding(), is: onboarding.API().Is}, onboarding.Handler(svc, onboarding.HandlerOptions{Log: g.log}))
	}}
}

// Schemes mounts the alternative schemes' transaction service.
func Schemes(svc aapay.Service) Service {
	return Service{func(g *gateway) mount {
		return g.byFault(mount{Group: contracts.Schemes(), at: aapay.API().Roots()}, aapay.Handler(svc, aapay.HandlerOptions{Log: g.log}))
	}}
}

// Methods mounts the method definitions.
func Methods(svc methods.Service) Service {
	return Service{func(g *gateway) mount {
		group := contracts.Methods()
		return g.byFault(mount{Group: group, at: methods.API().Roots()}, methods.Handler(svc, methods.HandlerOptions{Log: g.log, Around: permit(group.Infos)}))
	}}
}

const (
	maxLinkBody = 17 << 20 // a link's create may carry attachments of 16 MiB
	maxLarge    = 2        // of known clients at a time
)

// Disputes mounts the dispute service; operator is its own spelling of the provider… fields.
func Disputes(svc disputes.Service, keys disputes.Keys, operator string) Service {
	return Service{func(g *gateway) mount {
		h := disputes.Handler(svc, keys, disputes.HandlerOptions{Log: g.log, Dir: g.dir, Operator: operator})
		h = g.authorized(g.problem, limitLarge("others send documents", g.problem, answered(loginS0, true, g.problem, h)))
		return mount{Group: contracts.Disputes(), is: disputes.API().Is, handler: g.calling(disputes.MaxBody+1, h)}
	}}
}

// Links mounts the payment links of one account; instance "" = under any name. A client with a
// token of its own names the account, or itself, as the instance and signs with its token.
// strict refuses a write that is signed without any parameter.
func Links(links paylinks.Links, txns paylinks.Transactions, instance string, strict bool) Service {
	return Service{func(g *gateway) mount {
		secret := func(name string) (wire.Secret, error) {
			if c := g.byInstance(name, instance); c != nil {
				return c.Token, nil
			}
			return "", nil
		}
		fail := func(w http.ResponseWriter, _ *http.Request, e *wire.Error) { paylinks.WriteError(w, g.log, e) }
		group := contracts.Links()
		h := paylinks.Handler(links, txns, paylinks.HandlerOptions{
			Log: g.log, Dir: g.dir, OperationURL: operationURL, Around: permit(group.Infos),
			Strict: strict, Secret: secret, Others: func(name string) []wire.Secret { return g.tokensBehind(name, instance) },
			Proven: func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
				answer := w.(*answerWriter)
				answer.proven = true
				g.conns.proven(r)
				g.byToken(paylinks.Proof(r.Context()).Reveal()).paced(w, r, fail, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					answer.ctx = r.Context()
					serve(w, r)
				}))
			},
		})
		return mount{
			Group: group, at: paylinks.API().Roots(),
			handler: limitProving("others send attachments", g.shown, fail, g.calling(maxLinkBody, answered("instance and secret", false, fail, h))),
		}
	}}
}
