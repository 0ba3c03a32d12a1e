package onboarding

import (
	"context"
	"log/slog"
	"net/http"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Service is the onboarding service. key "" means that the caller gave none; with a key, the same call with the same body
// has one effect and one answer, and with another body is wire.KeyReused. Every write ends in one of:
//
//  1. the application as it stands after it;
//  2. wire.Invalid: the request breaks a rule; nothing happened;
//  3. wire.NotFound: no such application;
//  4. wire.Conflict: its status forbids it; Reason says why (errors.go); nothing happened;
//  5. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  6. wire.Unavailable: provably not sent, or refused before any effect;
//  7. wire.UnknownOutcome, Internal: the effect is not known: Read, or the same call under the same key.
type Service interface {
	// Create makes an application: INITIATED.
	Create(ctx context.Context, key wire.Key, app Application) (State, error)
	// Read reads an application: as it stands, wire.NotFound, or any other error: nothing is known.
	Read(ctx context.Context, id int64) (State, error)
	// Update replaces the fields of an INITIATED application (NotEditable otherwise). Without Notifications the webhooks
	// stay as they are.
	Update(ctx context.Context, key wire.Key, id int64, app Application) (State, error)
	// Submit sends an INITIATED application to be signed (NotSubmittable otherwise).
	Submit(ctx context.Context, key wire.Key, id int64) (State, error)
}

// Sandbox makes the moves that signer and review make elsewhere. reason is that of SignFail; "" = ReasonFailed.
type Sandbox func(ctx context.Context, key wire.Key, id int64, t Trigger, reason string) (State, error)

// Prefix is the service's path, in any case of letters, with and without a slash at its end.
const Prefix = "/api/v1/onboarding/applications"

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{Prefix: Prefix, Fold: true, Shape: rest.Problems{Catalogue: Problems()}}

// The requests about one application.
type (
	about struct {
		ID int64 `path:"onboardingId" json:"-"`
	}
	edit struct {
		about
		Application
	}
	push struct {
		about
		Reason string `json:"reason,omitempty"`
	}
)

var (
	create = rest.Endpoint[Service, Application, State]{
		Op: "onboarding.create", What: "make an application",
		Example: `{"reference":"our-7","merchant":{"registrationNumber":"12345678","companyName":"Shop ApS","contactFirstName":"Ada",` +
			`"contactLastName":"Holm","address":{"address1":"Torvet 1","city":"Aarhus","postalCode":"8000","countryCode":"DK"},` +
			`"email":"ada@shop.example","phone":"+4512345678"}}`,
		Method: http.MethodPost, Path: "", Status: http.StatusCreated, Wants: rest.Write, Do: Service.Create,
	}
	read = rest.Endpoint[Service, about, State]{
		Op: "onboarding.read", What: "read an application",
		Method: http.MethodGet, Path: "/{onboardingId}", Status: http.StatusOK,
		Do: func(svc Service, ctx context.Context, _ wire.Key, in about) (State, error) {
			return svc.Read(ctx, in.ID)
		},
		Flaw: func(in about, out State) string { return out.of(in.ID) },
	}
	update = rest.Endpoint[Service, edit, State]{
		Op: "onboarding.update", What: "replace it while it is new",
		Example: `{"reference":"our-7","merchant":{"registrationNumber":"12345678","companyName":"Shop ApS","email":"ada@shop.example"}}`,
		Method:  http.MethodPut, Path: "/{onboardingId}", Status: http.StatusOK, Wants: rest.Write,
		Do: func(svc Service, ctx context.Context, key wire.Key, in edit) (State, error) {
			return svc.Update(ctx, key, in.ID, in.Application)
		},
		Flaw: func(in edit, out State) string { return out.of(in.ID) },
	}
	submit = rest.Endpoint[Service, push, State]{
		Op: "onboarding.submit", What: "send it to be signed", Example: `{}`,
		Method: http.MethodPost, Path: "/{onboardingId}/submit", Status: http.StatusOK, Wants: rest.Write | rest.MayBody | rest.SendsNone,
		Do: func(svc Service, ctx context.Context, key wire.Key, in push) (State, error) {
			return svc.Submit(ctx, key, in.ID)
		},
		Flaw: func(in push, out State) string { return out.of(in.ID) },
	}
)

// Table is the service.
func Table() rest.Table[Service] { return rest.Table[Service]{&create, &read, &update, &submit} }

// trigger is a route of the sandbox.
func trigger(t Trigger, what string) *rest.Endpoint[Sandbox, push, State] {
	return &rest.Endpoint[Sandbox, push, State]{
		Op: "onboarding.sandbox", What: what, Example: `{}`,
		Method: http.MethodPost, Path: "/{onboardingId}/" + string(t), Status: http.StatusOK, Wants: rest.Write | rest.MayBody,
		Do: func(move Sandbox, ctx context.Context, key wire.Key, in push) (State, error) {
			return move(ctx, key, in.ID, t, in.Reason)
		},
	}
}

// SandboxTable is the routes of the sandbox.
func SandboxTable() rest.Table[Sandbox] {
	return rest.Table[Sandbox]{
		trigger(Sign, "sign it"), trigger(SignFail, "fail its signature"), trigger(Approve, "approve it"), trigger(Reject, "reject it"),
	}
}

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions struct {
	Log     *slog.Logger // gets internal errors; nil drops them
	MaxBody int64        // bytes of a request body; 0 means wire.MaxRequest
	// Sandbox is behind POST /{id}/{sign|fail|approve|reject}; fail may have the body {"reason":"failed|expired|cancelled"}.
	// nil: no such routes.
	Sandbox Sandbox
}

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	routes := Table().Bind(svc)
	if opts.Sandbox != nil {
		routes = append(routes, SandboxTable().Bind(opts.Sandbox)...)
	}
	return api.Handler(rest.Options{Log: opts.Log, MaxBody: opts.MaxBody}, routes)
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
func (c *Client) Create(ctx context.Context, key wire.Key, app Application) (State, error) {
	return create.Call(ctx, c.to(), key, app)
}

// Read implements Service.
func (c *Client) Read(ctx context.Context, id int64) (State, error) {
	return read.Call(ctx, c.to(), "", about{id})
}

// Update implements Service.
func (c *Client) Update(ctx context.Context, key wire.Key, id int64, app Application) (State, error) {
	return update.Call(ctx, c.to(), key, edit{about{id}, app})
}

// Submit implements Service.
func (c *Client) Submit(ctx context.Context, key wire.Key, id int64) (State, error) {
	return submit.Call(ctx, c.to(), key, push{about: about{id}})
}
