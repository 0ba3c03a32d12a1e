package hosted

import (
	"context"
	"net/http"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

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

func (c *orderClient) to() rest.Client { return (*Client)(c).to() }

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
