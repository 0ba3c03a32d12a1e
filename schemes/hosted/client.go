package hosted

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"posagent/schemes/wire"
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

// send sends one call and reads its success into out.
func (c *Client) send(ctx context.Context, call wire.Call, method, path string, key wire.Key, body []byte, out any, fields ...string) error {
	if key != "" {
		if _, err := wire.ParseKey(string(key)); err != nil {
			return &wire.Error{Code: wire.Invalid, Reason: BadKey, Op: call.Op, Err: err}
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.BaseURL, "/")+Prefix+path, bytes.NewReader(body))
	if err != nil {
		return &wire.Error{Code: wire.Unavailable, Op: call.Op, Msg: "base address not usable"}
	}
	h := req.Header
	h.Set("Accept", "application/json")
	if method == http.MethodPost {
		h.Set("Content-Type", ContentType)
	}
	h.Set(CorrelationHeader, string(wire.NewKey()))
	if key != "" {
		h.Set(wire.KeyHeader, string(key))
	}
	if c.APIKey != "" {
		h.Set(KeyHeader, c.APIKey.Reveal())
	}
	answer, err := call.Do(c.Doer, req)
	if err == nil && answer.Status != http.StatusOK {
		err = refusal(call, answer, key != "")
	}
	if err != nil {
		return wire.Withhold(err, c.APIKey.Reveal())
	}
	return call.Read(answer, out, fields...)
}

func marshal(op string, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be written", Err: err}
	}
	return body, nil
}

// Build implements Sessions.
func (c *sessionClient) Build(ctx context.Context, key wire.Key, req BuildRequest) (Built, error) {
	body, err := marshal(opBuild, req)
	if err != nil {
		return Built{}, err
	}
	var out Built
	call := wire.Call{Op: opBuild, Write: true}
	err = (*Client)(c).send(ctx, call, http.MethodPost, "/orders/build", key, body, &out, "sessionId", "securityToken")
	switch {
	case err != nil:
		return Built{}, err
	case !wire.PathWord(out.SessionID, MaxID):
		return Built{}, call.Lost("reply names no session")
	case out.SecurityToken == "":
		return Built{}, call.Lost("reply has no token")
	case !usable(out.URL, out.Fields):
		return Built{}, call.Lost("reply names no usable address")
	}
	return out, nil
}

// usable says whether the addresses of a reply are such that a browser may be sent there.
func usable(page string, fields []Field) bool {
	for _, f := range fields {
		if !wire.WebURL(f.Src) {
			return false
		}
	}
	return page == "" || wire.WebURL(page)
}

// Finalize implements Sessions.
func (c *sessionClient) Finalize(ctx context.Context, key wire.Key, sessionID string, amount Text) (SessionState, error) {
	path := "/build/finalize_payment"
	if amount != "" {
		path = "/build/confirm_payment"
	}
	return c.move(ctx, opFinalize, path, key, sessionCall{sessionID, amount})
}

// Cancel implements Sessions.
func (c *sessionClient) Cancel(ctx context.Context, key wire.Key, sessionID string) (SessionState, error) {
	return c.move(ctx, opEnd, "/build/cancel", key, sessionCall{SessionID: sessionID})
}

func (c *sessionClient) move(ctx context.Context, op, path string, key wire.Key, req sessionCall) (SessionState, error) {
	if err := checkID(op, "sessionId", req.SessionID); err != nil {
		return SessionState{}, err
	}
	body, err := marshal(op, req)
	if err != nil {
		return SessionState{}, err
	}
	return c.stated(ctx, wire.Call{Op: op, Write: true}, http.MethodPost, path, key, body)
}

// State implements Sessions.
func (c *sessionClient) State(ctx context.Context, sessionID string) (SessionState, error) {
	if err := checkID(opState, "sessionId", sessionID); err != nil {
		return SessionState{}, err
	}
	return c.stated(ctx, wire.Call{Op: opState}, http.MethodGet, "/build/state?sessionId="+url.QueryEscape(sessionID), "", nil)
}

func (c *sessionClient) stated(ctx context.Context, call wire.Call, method, path string, key wire.Key, body []byte) (SessionState, error) {
	var out SessionState
	err := (*Client)(c).send(ctx, call, method, path, key, body, &out, "state")
	switch {
	case err != nil:
		return SessionState{}, err
	case out.State == "":
		return SessionState{}, call.Lost("reply names no state")
	case !usable(out.URL, nil) || out.FieldSet != nil && !usable(out.FieldSet.URL, out.FieldSet.Fields):
		return SessionState{}, call.Lost("reply names no usable address")
	}
	return out, nil
}

// Card implements Sessions.
func (c *sessionClient) Card(ctx context.Context, sessionID string) (out CardData, err error) {
	if err = checkID(opCard, "sessionId", sessionID); err == nil {
		err = (*Client)(c).send(ctx, wire.Call{Op: opCard}, http.MethodGet, "/build/cardData?sessionId="+url.QueryEscape(sessionID), "", nil, &out)
	}
	return out, err
}

// Methods implements Orders.
func (c *orderClient) Methods(ctx context.Context) (out MethodList, err error) {
	err = (*Client)(c).send(ctx, wire.Call{Op: opMethods}, http.MethodGet, "/payment_methods", "", nil, &out, "paymentMethods")
	return out, err
}

// Order implements Orders.
func (c *orderClient) Order(ctx context.Context, orderID string) (Report, error) {
	if err := checkID(opOrder, "orderId", orderID); err != nil {
		return Report{}, err
	}
	var out Report
	call := wire.Call{Op: opOrder}
	err := (*Client)(c).send(ctx, call, http.MethodGet, "/orders/"+url.PathEscape(orderID), "", nil, &out, "orderStatus", "orderStatus.order")
	switch {
	case err != nil:
		return Report{}, err
	case out.OrderStatus.Order.OrderID != orderID:
		return Report{}, call.Lost("reply is about another order")
	}
	return out, nil
}

// Capture implements Orders.
func (c *orderClient) Capture(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error) {
	return c.post(ctx, opCapture, "/captures", key, operationID, req)
}

// Refund implements Orders.
func (c *orderClient) Refund(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error) {
	return c.post(ctx, opRefund, "/refunds", key, operationID, req)
}

// Cancel implements Orders.
func (c *orderClient) Cancel(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error) {
	return c.post(ctx, opUndo, "/cancels", key, operationID, req)
}

func (c *orderClient) post(ctx context.Context, op, path string, key wire.Key, id string, req PostRequest) (Posted, error) {
	err := needKey(op, key)
	if err == nil {
		err = checkID(op, "operationId", id)
	}
	var body []byte
	if err == nil {
		body, err = marshal(op, req)
	}
	if err != nil {
		return Posted{}, err
	}
	var out Posted
	call := wire.Call{Op: op, Write: true}
	err = (*Client)(c).send(ctx, call, http.MethodPost, "/operations/"+url.PathEscape(id)+path, key, body, &out, "operationId")
	if err == nil && out.OperationID == "" {
		err = call.Lost("reply names no operation")
	}
	if err != nil {
		return Posted{}, err
	}
	return out, nil
}
