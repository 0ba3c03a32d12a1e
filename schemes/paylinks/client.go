package paylinks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
	"posagent/schemes/wire/rest"
)

// Client speaks to the service over HTTP. It works as soon as its fields are set, signs what it sends, and sends each
// call once; whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL  string // scheme and host, and a path before /v1.0 if there is one
	Instance string // the account
	Secret   wire.Secret
	Doer     wire.Doer
}

func (c *Client) to() rest.Client {
	return rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer, Write: c.write, Secrets: []string{c.Secret.Reveal()}}
}

// Links is the link half of the service.
func (c *Client) Links() Links { return linkClient{c} }

// Transactions is the transaction half.
func (c *Client) Transactions() Transactions { return txnClient{c} }

// Check asks whether instance and secret are right: nil, wire.Forbidden, or another error: nothing is known.
func (c *Client) Check(ctx context.Context) error {
	_, err := verified.Call(ctx, c.to(), "", struct{}{})
	return err
}

type linkClient struct{ c *Client }

type txnClient struct{ c *Client }

var (
	_ Links        = linkClient{}
	_ Transactions = txnClient{}
)

// Create implements Links.
func (l linkClient) Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error) {
	return create.Call(ctx, l.c.to(), key, req)
}

// Read implements Links.
func (l linkClient) Read(ctx context.Context, id int64) (Link, error) {
	return read.Call(ctx, l.c.to(), "", about{id})
}

// Delete implements Links.
func (l linkClient) Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error) {
	return drop.Call(ctx, l.c.to(), key, about{id})
}

// Read implements Transactions.
func (t txnClient) Read(ctx context.Context, id int64) (Transaction, error) {
	return txn.Call(ctx, t.c.to(), "", about{id})
}

// Charge implements Transactions.
func (t txnClient) Charge(ctx context.Context, key wire.Key, id int64, req ChargeRequest) (Done, error) {
	return charge.Call(ctx, t.c.to(), key, charging{about{id}, req})
}

// Capture implements Transactions.
func (t txnClient) Capture(ctx context.Context, key wire.Key, id int64) (Done, error) {
	return capture.Call(ctx, t.c.to(), key, about{id})
}

// Refund implements Transactions.
func (t txnClient) Refund(ctx context.Context, key wire.Key, id int64, req RefundRequest) (Done, error) {
	return refund.Call(ctx, t.c.to(), key, refunding{about{id}, req})
}

// Delete implements Transactions.
func (t txnClient) Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error) {
	return cancel.Call(ctx, t.c.to(), key, about{id})
}

// List implements Transactions.
func (t txnClient) List(ctx context.Context, f Filter) ([]Transaction, error) {
	return list.Call(ctx, t.c.to(), "", f)
}

// write makes and signs a request.
func (c *Client) write(ctx context.Context, i rest.Info, address string, in any) (*http.Request, error) {
	if c.Instance == "" || c.Secret == "" {
		return nil, &wire.Error{Code: wire.Unavailable, Op: i.Op, Msg: "no instance or secret"}
	}
	var form bracket.Form
	if f, ok := in.(interface{ form() *bracket.Object }); ok {
		form = f.form().Form()
	}
	if len(form) == 0 && i.Write() { // the signature of nothing is refused where something is written
		form = bracket.Form{{Name: "id", Value: strconv.FormatInt(in.(interface{ id() int64 }).id(), 10)}}
	}
	signature := Sign(c.Secret, form)
	form = append(form, bracket.Pair{Name: SignatureParam, Value: signature})
	address += "?" + bracket.Form{{Name: InstanceParam, Value: c.Instance}}.Encode()
	kind, text := formType, ""
	if i.Write() {
		text = form.Encode()
	} else {
		kind, address = "", address+"&"+form.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, i.Method, address, strings.NewReader(text))
	if err != nil {
		return nil, &wire.Error{Code: wire.Unavailable, Op: i.Op, Msg: "base address not usable"}
	}
	if req.Header.Set("Accept", ContentType); kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if link, ok := in.(CreateRequest); ok && len(link.Attachments) > 0 {
		kind, req.ContentLength, req.GetBody = attach(form, link.Attachments, signature)
		req.Header.Set("Content-Type", kind)
		if req.Body, err = req.GetBody(); err != nil {
			return nil, &wire.Error{Code: wire.Invalid, Op: i.Op, Err: err}
		}
	}
	return req, nil
}

// attach makes a body with files. Its boundary is made of what an attachment's author cannot know: the signature.
func attach(form bracket.Form, files []Attachment, signature string) (string, int64, func() (io.ReadCloser, error)) {
	parts := make([]bracket.Part, len(files))
	sum := sha256.New()
	sum.Write([]byte(signature))
	for i, f := range files {
		field := "attachments"
		if len(files) > 1 {
			field += "[" + strconv.Itoa(i) + "]"
		}
		parts[i] = bracket.Part{Field: field, Name: f.Name, ContentType: f.ContentType, Size: f.Size, Open: f.Open}
		sum.Write([]byte(f.SHA256))
	}
	return bracket.WriteMultipart(form, parts, hex.EncodeToString(sum.Sum(nil)))
}
