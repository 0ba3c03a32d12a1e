package webhooks

import (
	"bytes"
	"context"
	"net/http"

	"posagent/schemes/wire"
)

// Client is the Service over HTTP: it sends one event once to one endpoint. When to send it again is the caller's
// business.
type Client struct {
	URL           string
	Authorization wire.Secret // sent as it is in the header of that name; "" = none
	Doer          wire.Doer
}

var _ Service = (*Client)(nil)

// Receive implements Service.
func (c *Client) Receive(ctx context.Context, e Event) error {
	body, err := Marshal(e)
	if err != nil {
		return &wire.Error{Code: wire.Invalid, Op: opReceive, Msg: "event cannot be written", Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return &wire.Error{Code: wire.Unavailable, Op: opReceive, Msg: "address not usable"}
	}
	req.Header.Set("Content-Type", ContentType)
	if c.Authorization != "" {
		req.Header.Set("Authorization", c.Authorization.Reveal())
	}
	call := wire.Call{Op: opReceive, Write: true}
	answer, err := call.Do(c.Doer, req)
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return call.Refusal(answer, false)
	}
	return nil
}
