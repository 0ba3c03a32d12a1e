package paylinks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

const (
	opCheck   = "paylinks.check"
	opCreate  = "paylinks.create"
	opRead    = "paylinks.read"
	opDelete  = "paylinks.delete"
	opTxn     = "paylinks.transaction"
	opCharge  = "paylinks.charge"
	opCapture = "paylinks.capture"
	opRefund  = "paylinks.refund"
	opCancel  = "paylinks.cancel"
	opList    = "paylinks.list"
)

// Client speaks to the service over HTTP. It works as soon as its fields are set, signs what it sends, and sends each
// call once; whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL  string // scheme and host, and a path before /v1.0 if there is one
	Instance string // the account
	Secret   wire.Secret
	Doer     wire.Doer
}

// Links is the link half of the service.
func (c *Client) Links() Links { return linkClient{c} }

// Transactions is the transaction half.
func (c *Client) Transactions() Transactions { return txnClient{c} }

// Check asks whether instance and secret are right: nil, wire.Forbidden, or another error: nothing is known.
func (c *Client) Check(ctx context.Context) error {
	var got idRecord
	_, err := c.one(ctx, sending{op: opCheck, method: http.MethodGet, path: signatures + "/"}, &got)
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
	var out Created
	if err := req.Validate(); err != nil {
		return out, err
	}
	op, err := l.c.one(ctx, sending{op: opCreate, method: http.MethodPost, path: invoices + "/", key: key, form: req.form(), files: req.Attachments}, &out.Link)
	if err != nil {
		return Created{}, err
	}
	out.Operation = op
	return out, checkID(opCreate, true, out.ID, 0, op)
}

// Read implements Links.
func (l linkClient) Read(ctx context.Context, id int64) (Link, error) {
	var out Link
	_, err := l.c.one(ctx, sending{op: opRead, method: http.MethodGet, path: invoices, id: id}, &out)
	if err != nil {
		return Link{}, err
	}
	return out, checkID(opRead, false, out.ID, id, nil)
}

// Delete implements Links.
func (l linkClient) Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error) {
	return l.c.remove(ctx, sending{op: opDelete, method: http.MethodDelete, path: invoices, id: id, key: key})
}

// Read implements Transactions.
func (t txnClient) Read(ctx context.Context, id int64) (Transaction, error) {
	var out Transaction
	_, err := t.c.one(ctx, sending{op: opTxn, method: http.MethodGet, path: transactions, id: id}, &out)
	if err != nil {
		return Transaction{}, err
	}
	return out, checkID(opTxn, false, out.ID, id, nil)
}

// Charge implements Transactions.
func (t txnClient) Charge(ctx context.Context, key wire.Key, id int64, req ChargeRequest) (Done, error) {
	if err := req.Validate(); err != nil {
		return Done{}, err
	}
	form := amountForm(req.Amount)
	if req.Purpose != "" {
		form.Add("purpose", req.Purpose)
	}
	if req.ReferenceID != "" {
		form.Add("referenceId", req.ReferenceID)
	}
	return t.c.act(ctx, sending{op: opCharge, method: http.MethodPost, path: transactions, id: id, key: key, form: form})
}

// Capture implements Transactions.
func (t txnClient) Capture(ctx context.Context, key wire.Key, id int64) (Done, error) {
	return t.c.act(ctx, sending{op: opCapture, method: http.MethodPost, path: transactions, id: id, verb: "capture", key: key})
}

// Refund implements Transactions.
func (t txnClient) Refund(ctx context.Context, key wire.Key, id int64, req RefundRequest) (Done, error) {
	if err := req.Validate(); err != nil {
		return Done{}, err
	}
	return t.c.act(ctx, sending{op: opRefund, method: http.MethodPost, path: transactions, id: id, verb: "refund", key: key, form: amountForm(req.Amount)})
}

// Delete implements Transactions.
func (t txnClient) Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error) {
	return t.c.remove(ctx, sending{op: opCancel, method: http.MethodDelete, path: transactions, id: id, key: key})
}

// List implements Transactions.
func (t txnClient) List(ctx context.Context, f Filter) ([]Transaction, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	e, call, err := t.c.exchange(ctx, sending{op: opList, method: http.MethodGet, path: transactions + "/", form: f.query()})
	if err != nil {
		return nil, err
	}
	out := make([]Transaction, len(e.Data))
	for i, raw := range e.Data {
		if err := wire.Decode(raw, &out[i]); err != nil {
			return nil, unreadable(call, err)
		}
	}
	return out, nil
}

func amountForm(amount *int64) *bracket.Object {
	o := new(bracket.Object)
	if amount != nil {
		o.Add("amount", *amount)
	}
	return o
}

func (c *Client) act(ctx context.Context, s sending) (Done, error) {
	var out Done
	op, err := c.one(ctx, s, &out)
	if err != nil {
		return Done{}, err
	}
	out.Operation = op
	return out, checkID(s.op, true, out.ID, s.id, op)
}

func (c *Client) remove(ctx context.Context, s sending) (Deleted, error) {
	var out idRecord
	op, err := c.one(ctx, s, &out)
	if err != nil {
		return Deleted{}, err
	}
	return Deleted{ID: out.ID, Operation: op}, checkID(s.op, true, out.ID, s.id, op)
}

// checkID refuses an answer about another thing than the one asked for (want 0: a new one). What a service calls done and is not pending
// has an id of the backend's own (MONEY C.6).
func checkID(op string, write bool, got, want int64, pending *wire.Pending) error {
	c := wire.Call{Op: op, Write: write}
	switch {
	case want == 0 && CheckID(got) != nil, want == 0 && pending == nil && got >= FirstLocalID:
		return c.Lost("reply has no usable id")
	case want != 0 && want != got && want < FirstLocalID:
		return c.Lost("reply is about another id")
	}
	return nil
}

// sending is one call.
type sending struct {
	op, method string
	path       string // the resource; with a slash at its end where there is no id
	id         int64
	verb       string
	key        wire.Key
	form       *bracket.Object
	files      []Attachment
}

// envelope is every success.
type envelope struct {
	Status    string            `json:"status"`
	Data      []json.RawMessage `json:"data"`
	Operation *wire.Pending     `json:"operation"`
}

// one performs a call whose answer is one record, and reads it.
func (c *Client) one(ctx context.Context, s sending, into any) (*wire.Pending, error) {
	e, call, err := c.exchange(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(e.Data) != 1 {
		return nil, call.Lost("reply does not have one record")
	}
	err = wire.Decode(e.Data[0], into)
	if err == nil {
		err = wire.Required(e.Data[0], "id")
	}
	if err != nil {
		return nil, unreadable(call, err)
	}
	return e.Operation, nil
}

func unreadable(call wire.Call, err error) *wire.Error {
	e := call.Lost("reply not readable")
	e.Err = err
	return e
}

func (c *Client) exchange(ctx context.Context, s sending) (envelope, wire.Call, error) {
	call := wire.Call{Op: s.op, Write: s.method != http.MethodGet}
	req, err := c.request(ctx, s)
	if err != nil {
		return envelope{}, call, err
	}
	a, err := call.Do(c.Doer, req)
	if err != nil {
		return envelope{}, call, err
	}
	var e envelope
	if a.JSON() && (a.Status == http.StatusOK || a.Status == http.StatusAccepted || a.Status == http.StatusCreated) {
		if err = wire.Decode(a.Body, &e); err == nil {
			err = wire.Required(a.Body, "status", "data")
		}
		if err == nil && e.Status == "success" && (a.Status != http.StatusAccepted || e.Operation != nil) {
			return e, call, nil
		}
		if _, _, own := readError(a); !own {
			return envelope{}, call, unreadable(call, err)
		}
	}
	return envelope{}, call, refusal(call, a, s.key != "")
}

// request writes and signs a call.
func (c *Client) request(ctx context.Context, s sending) (*http.Request, error) {
	refuse := func(err error) (*http.Request, error) {
		return nil, &wire.Error{Code: wire.Invalid, Op: s.op, Err: err}
	}
	if s.key != "" {
		if _, err := wire.ParseKey(string(s.key)); err != nil {
			return refuse(err)
		}
	}
	path := s.path
	if !strings.HasSuffix(path, "/") {
		if err := CheckID(s.id); err != nil {
			return refuse(err)
		}
		path += "/" + strconv.FormatInt(s.id, 10) + "/" + s.verb
	}
	if c.Instance == "" || c.Secret == "" {
		return nil, &wire.Error{Code: wire.Unavailable, Op: s.op, Msg: "no instance or secret"}
	}
	var form bracket.Form
	if s.form != nil {
		form = s.form.Form()
	}
	if len(form) == 0 && s.method != http.MethodGet { // the signature of nothing is refused where something is written
		form = bracket.Form{{Name: "id", Value: strconv.FormatInt(s.id, 10)}}
	}
	signature := Sign(c.Secret, form)
	form = append(form, bracket.Pair{Name: SignatureParam, Value: signature})
	address := strings.TrimRight(c.BaseURL, "/") + Prefix + path + "?" + bracket.Form{{Name: InstanceParam, Value: c.Instance}}.Encode()
	var body func() (io.ReadCloser, error)
	kind, length := "application/x-www-form-urlencoded", int64(0)
	switch {
	case s.method == http.MethodGet:
		address += "&" + form.Encode()
	case len(s.files) > 0:
		kind, length, body = attach(form, s.files, signature)
	default:
		text := []byte(form.Encode())
		length = int64(len(text))
		body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	}
	req, err := http.NewRequestWithContext(ctx, s.method, address, nil)
	if err != nil {
		return nil, &wire.Error{Code: wire.Unavailable, Op: s.op, Msg: "base address not usable"}
	}
	req.Header.Set("Accept", ContentType)
	if body != nil {
		req.Header.Set("Content-Type", kind)
		req.GetBody, req.ContentLength = body, length
		if req.Body, err = body(); err != nil {
			return refuse(err)
		}
	}
	if s.key != "" {
		req.Header.Set(wire.KeyHeader, string(s.key))
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
