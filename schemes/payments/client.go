package payments

import (
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
	BaseURL  string // scheme and host, and a path before /api if there is one
	Doer     wire.Doer
	Operator string // ProviderHosted is sent in its spelling; "" sends ProviderHostedEcom
}

var _ Service = (*Client)(nil)

// Create implements Service.
func (c *Client) Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error) {
	body, err := EncodeCreate(req, c.Operator)
	if err != nil {
		return Created{}, &wire.Error{Code: wire.Invalid, Op: opCreate, Msg: "request cannot be written"}
	}
	var out Created
	call := wire.Call{Op: opCreate, Write: true}
	answer, err := c.send(ctx, call, http.MethodPost, "", key, body, &out, "paymentId")
	switch {
	case err != nil:
		return Created{}, wire.Withhold(err, req.secrets()...)
	case out.PaymentID == "" || !wire.PathWord(out.PaymentID, MaxID):
		return Created{}, call.Lost("reply names no payment")
	case out.PayPageURL != nil && !wire.WebURL(*out.PayPageURL):
		return Created{}, call.Lost("reply names no usable page")
	case !settled(answer.Status, out.Operation):
		return Created{}, call.Lost("reply does not say whether it is done")
	}
	return out, nil
}

// secrets are what a reply to the request must not repeat.
func (r CreateRequest) secrets() (list []string) {
	if c := r.CardDetails; c != nil {
		list = append(list, c.PAN.Reveal(), c.ValidationCode.Reveal())
	}
	if d := r.PaymentMethodDetails; d != nil {
		list = append(list, d.Token.Reveal(), d.TokenSecret.Reveal(), d.IBAN.Reveal())
	}
	if r.Notifications != nil {
		for _, h := range r.Notifications.WebHooks {
			list = append(list, h.Authorization.Reveal())
		}
	}
	return list
}

// Authorize implements Service.
func (c *Client) Authorize(ctx context.Context, key wire.Key, paymentID string, req AuthorizeRequest) (Done, error) {
	return c.operate(ctx, opAuthorize, "Authorize", key, paymentID, req)
}

// Cancel implements Service.
func (c *Client) Cancel(ctx context.Context, key wire.Key, paymentID string, req CancelRequest) (Done, error) {
	return c.operate(ctx, opCancel, "Cancel", key, paymentID, req)
}

// Capture implements Service.
func (c *Client) Capture(ctx context.Context, key wire.Key, paymentID string, req CaptureRequest) (Done, error) {
	return c.operate(ctx, opCapture, "Capture", key, paymentID, req)
}

// Refund implements Service.
func (c *Client) Refund(ctx context.Context, key wire.Key, paymentID string, req RefundRequest) (Done, error) {
	return c.operate(ctx, opRefund, "Refund", key, paymentID, req)
}

func (c *Client) operate(ctx context.Context, op, route string, key wire.Key, id string, req any) (Done, error) {
	if err := checkID(op, id); err != nil {
		return Done{}, err
	}
	body, err := json.Marshal(req)
	if err != nil {
		return Done{}, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be written", Err: err}
	}
	var out Done
	call := wire.Call{Op: op, Write: true}
	answer, err := c.send(ctx, call, http.MethodPost, "/"+url.PathEscape(id)+"/"+route, key, body, &out, "paymentId", "transactionRef")
	switch {
	case err != nil:
		return Done{}, err
	case out.TransactionRef == "":
		return Done{}, call.Lost("reply names no transaction")
	case !same(id, out.PaymentID):
		return Done{}, call.Lost("reply is about another payment")
	case !settled(answer.Status, out.Operation):
		return Done{}, call.Lost("reply does not say whether it is done")
	}
	return out, nil
}

// Read implements Service.
func (c *Client) Read(ctx context.Context, paymentID string) (Payment, error) {
	if err := checkID(opRead, paymentID); err != nil {
		return Payment{}, err
	}
	var out Payment
	call := wire.Call{Op: opRead}
	_, err := c.send(ctx, call, http.MethodGet, "/"+url.PathEscape(paymentID), "", nil, &out, "summary")
	switch {
	case err != nil:
		return Payment{}, err
	case out.PaymentID != "" && !same(paymentID, out.PaymentID):
		return Payment{}, call.Lost("reply is about another payment")
	}
	return out, nil
}

// same says whether a reply is about the payment asked for. A store-and-forward service answers one of its own
// ids ("L" and a Key, MONEY C.6) with the backend's once it knows it, and the other way round.
func same(asked, named string) bool {
	return strings.EqualFold(asked, named) || strings.HasPrefix(asked, "L") || strings.HasPrefix(named, "L")
}

// settled says whether a success tells one thing: 202 with a pending operation, any other without.
func settled(status int, p *wire.Pending) bool {
	return (status == http.StatusAccepted) == (p != nil) && (p == nil || p.Key != "")
}

// send sends one call and reads its success into out: 200, and of a write 201 and 202.
func (c *Client) send(ctx context.Context, call wire.Call, method, path string, key wire.Key, body []byte, out any, fields ...string) (wire.Answer, error) {
	answer, err := call.Send(ctx, c.Doer, method, strings.TrimRight(c.BaseURL, "/")+Prefix+path, key, body)
	if err != nil {
		return wire.Answer{}, err
	}
	if answer.Status != http.StatusOK && (!call.Write || answer.Status != http.StatusCreated && answer.Status != http.StatusAccepted) {
		return wire.Answer{}, call.Problem(answer, key != "", Problems())
	}
	return answer, call.Read(answer, out, fields...)
}
