package aapay

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Service is the alternative-scheme transaction service (S1 4.3).
type Service interface {
	// Initialize starts a transaction on the plain route. Never send it twice.
	//  1. Reply with HTTPStatus 202: live; 201: created but rejected, final;
	//  2. wire.Invalid, Unauthorized, Forbidden, Conflict: refused, no effect;
	//  3. wire.Unavailable: provably not sent;
	//  4. wire.UnknownOutcome, TooMany, Internal: the effect is not known.
	Initialize(ctx context.Context, typ Type, req Request) (Reply, error)
	// InitializeWithIdempotency is the same under a Key: safe to send again under the same Key and body;
	// wire.KeyReused when the body differs from the first.
	InitializeWithIdempotency(ctx context.Context, key wire.Key, typ Type, req Request) (Reply, error)
	// Status reads a transaction by transactionId, ppref or terminalReference; method is optional.
	//  1. the status;
	//  2. wire.NotFound: the service says it does not know it (no proof that it never will);
	//  3. any other error: nothing is known.
	Status(ctx context.Context, id string, method string) (Status, error)
}

// Prefix is the service's path (S1 4.3).
const Prefix = "/ms/aapay/v2/transaction/"

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{
	Prefix: strings.TrimSuffix(Prefix, "/"), Type: ContentType, Shape: shape{rest.Faults{Type: ContentType}}, Accept: accept,
}

// accept refuses a body of another version than ours. One that names no version is ours.
func accept(r *http.Request) error {
	if r.Method != http.MethodPost {
		return nil
	}
	params, err := wire.CheckJSON(r.Header.Get("Content-Type"))
	if v, given := params["version"]; given && v != version {
		return wire.Errorf(wire.Invalid, "", "content type version=%s is wanted", version)
	}
	return err
}

// kind is the {type} of a path.
type kind Type

// MarshalText implements encoding.TextMarshaler.
func (k kind) MarshalText() ([]byte, error) {
	typ, ok := ParseType(string(k))
	if !ok {
		return nil, errNoType
	}
	return []byte(typ), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *kind) UnmarshalText(text []byte) error {
	typ, ok := ParseType(string(text))
	if !ok {
		return errNoType
	}
	*k = kind(typ)
	return nil
}

var errNoType = errors.New("want payment, refund or reversal")

// starting is a request with the type that its path names.
type starting struct {
	Type kind `path:"type" json:"-"`
	Request
}

// about names a transaction.
type about struct {
	ID     string `path:"id" json:"-" max:"255"`
	Method string `query:"method" json:"-" max:"-"`
}

// sample is the body of a reversal.
const sample = `{"merchantId":"B1","method":"SWISH_E_COM","purchaseAmount":{"currencyCode":"EUR","vatAmount":0,"nominalAmount":1250,"totalAmount":1250},` +
	`"consumer":{"consumerId":"","name":""},"terminalReference":"sale-7","originalReference":"sale-6","trigger":"2"}`

// Both routes of an initialize have one name: which of them was taken is no part of what went wrong.
var (
	plain = rest.Endpoint[Service, starting, Reply]{
		Op: "aapay.initialize", What: "start a transaction", Example: sample,
		Method: http.MethodPost, Path: "/{type}/initialize", Status: http.StatusAccepted, Also: []int{http.StatusCreated},
		Wants: rest.Write, Do: start,
	}
	idempotent = rest.Endpoint[Service, starting, Reply]{
		Op: "aapay.initialize", What: "start a transaction under a key", Example: sample,
		Method: http.MethodPost, Path: "/{type}/initializeWithIdempotency", Status: http.StatusAccepted, Also: []int{http.StatusCreated},
		Wants: rest.Write | rest.NeedsKey, Do: start,
	}
	status = rest.Endpoint[Service, about, Status]{
		Op: "aapay.status", What: "read a transaction",
		Method: http.MethodGet, Path: "/{id}/status", Status: http.StatusOK,
		Do: func(svc Service, ctx context.Context, _ wire.Key, in about) (Status, error) {
			return svc.Status(ctx, in.ID, in.Method)
		},
	}
)

// start honours a Key on the plain route too.
func start(svc Service, ctx context.Context, key wire.Key, in starting) (Reply, error) {
	if key == "" {
		return svc.Initialize(ctx, Type(in.Type), in.Request)
	}
	return svc.InitializeWithIdempotency(ctx, key, Type(in.Type), in.Request)
}

// Table is the service.
func Table() rest.Table[Service] { return rest.Table[Service]{&plain, &idempotent, &status} }

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions = rest.Options

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	return api.Handler(opts, Table().Bind(svc))
}

// Client is the Service over HTTP. It works as soon as BaseURL and Doer are set. It sends each call once;
// whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL string // scheme and host, and a path before /ms if there is one
	Doer    wire.Doer
}

var _ Service = (*Client)(nil)

// to names the content type with every call: a status read has it too.
func (c *Client) to() rest.Client {
	return rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer, Head: func(h http.Header) { h.Set("Content-Type", ContentType) }}
}

// Initialize implements Service.
func (c *Client) Initialize(ctx context.Context, typ Type, req Request) (Reply, error) {
	return plain.Call(ctx, c.to(), "", starting{kind(typ), req})
}

// InitializeWithIdempotency implements Service.
func (c *Client) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ Type, req Request) (Reply, error) {
	return idempotent.Call(ctx, c.to(), key, starting{kind(typ), req})
}

// Status implements Service. A reply about another transaction is wire.UnknownOutcome.
func (c *Client) Status(ctx context.Context, id, method string) (Status, error) {
	st, err := status.Call(ctx, c.to(), "", about{id, method})
	if err != nil {
		return Status{}, err
	}
	if same, known := st.Is(id); known && !same {
		return Status{}, wire.Errorf(wire.UnknownOutcome, status.Op, "reply is about another transaction")
	}
	return st, nil
}
