package aapay

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"posagent/schemes/wire"
)

// Client is the Service over HTTP. It works as soon as BaseURL and Doer are set. It sends each call once;
// whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL string // scheme and host, and a path before /ms if there is one
	Doer    wire.Doer
}

var _ Service = (*Client)(nil)

// Initialize implements Service.
func (c *Client) Initialize(ctx context.Context, typ Type, req Request) (Reply, error) {
	return c.initialize(ctx, "initialize", "", typ, req)
}

// InitializeWithIdempotency implements Service.
func (c *Client) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ Type, req Request) (Reply, error) {
	if _, err := wire.ParseKey(string(key)); err != nil {
		return Reply{}, &wire.Error{Code: wire.Invalid, Op: opInitialize, Err: err}
	}
	return c.initialize(ctx, "initializeWithIdempotency", key, typ, req)
}

func (c *Client) initialize(ctx context.Context, route string, key wire.Key, typ Type, r Request) (Reply, error) {
	typ, ok := ParseType(string(typ))
	if !ok {
		return Reply{}, wire.Errorf(wire.Invalid, opInitialize, "type: want payment, refund or reversal")
	}
	body, err := json.Marshal(r)
	if err != nil {
		return Reply{}, &wire.Error{Code: wire.Invalid, Op: opInitialize, Msg: "request cannot be written", Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url(string(typ), route), bytes.NewReader(body))
	if err != nil {
		return Reply{}, &wire.Error{Code: wire.Unavailable, Op: opInitialize, Msg: "base address not usable"}
	}
	req.Header.Set("Content-Type", ContentType)
	req.Header.Set("Accept", "application/json")
	if key != "" {
		req.Header.Set(wire.KeyHeader, string(key))
	}
	call := wire.Call{Op: opInitialize, Write: true}
	answer, err := call.Do(c.Doer, req)
	if err != nil {
		return Reply{}, err
	}
	if answer.Status != http.StatusCreated && answer.Status != http.StatusAccepted {
		return Reply{}, call.Refusal(answer, key != "")
	}
	var reply Reply
	if err := call.Read(answer, &reply, "valid"); err != nil {
		return Reply{}, err
	}
	reply.HTTPStatus = answer.Status
	return reply, nil
}

// Status implements Service.
func (c *Client) Status(ctx context.Context, id, method string) (Status, error) {
	if err := CheckID(id); err != nil {
		return Status{}, err
	}
	u := c.url(id, "status")
	if method != "" {
		u += "?method=" + url.QueryEscape(method)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return Status{}, &wire.Error{Code: wire.Unavailable, Op: opStatus, Msg: "base address not usable"}
	}
	req.Header.Set("Content-Type", ContentType)
	req.Header.Set("Accept", "application/json")
	call := wire.Call{Op: opStatus}
	answer, err := call.Do(c.Doer, req)
	if err != nil {
		return Status{}, err
	}
	if answer.Status != http.StatusOK {
		return Status{}, call.Refusal(answer, false)
	}
	var st Status
	if err := call.Read(answer, &st, "valid", "state"); err != nil {
		return Status{}, err
	}
	if same, known := st.Is(id); known && !same {
		return Status{}, wire.Errorf(wire.UnknownOutcome, opStatus, "reply is about another transaction")
	}
	return st, nil
}

func (c *Client) url(first, second string) string {
	return strings.TrimRight(c.BaseURL, "/") + Prefix + url.PathEscape(first) + "/" + second
}
