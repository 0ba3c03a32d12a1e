package paylinks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
	"posagent/schemes/wire/rest"
)

// opened is one call taken apart and proven.
type opened struct {
	op    string
	proof wire.Secret // what it was proven by
	form  *bracket.Object
	files []*bracket.File
}

var _ rest.Opened = (*opened)(nil)

// Read implements rest.Opened.
func (o *opened) Read(into any) error {
	in, ok := into.(interface{ read(r *reader) })
	if !ok {
		return nil
	}
	r := reader{form: o.form, files: o.files}
	in.read(&r)
	return r.Err(o.op)
}

// Close implements rest.Opened.
func (o *opened) Close() { bracket.CloseAll(o.files) }

// open reads what a request carries and checks who sent it: before that is proven, nothing but the account's name is looked at. The
// request it returns beside an error holds files.
func (o HandlerOptions) open(r *http.Request, i rest.Info, values []string) (rest.Opened, error) {
	query, err := bracket.Parse(r.URL.RawQuery, bracket.Limits{})
	if err != nil {
		return nil, err
	}
	names := query.Values(InstanceParam)
	if len(names) != 1 || names[0] == "" {
		return nil, &wire.Error{Code: wire.Invalid, Reason: unprocessable, Msg: formText}
	}
	secret := wire.Secret("")
	if o.Secret != nil {
		if secret, err = o.Secret(names[0]); err != nil {
			return nil, err
		}
	}
	secrets := []wire.Secret{secret}
	if o.Others != nil {
		secrets = append(secrets, o.Others(names[0])...)
	}
	keys, proof := r.Header.Values(APIKeyHeader), wire.Secret("")
	if len(keys) == 1 {
		for _, s := range secrets { // all of them, in a time that tells nothing
			if s != "" && same(keys[0], s.Reveal()) {
				proof = s
			}
		}
	}
	if len(keys) > 0 && proof == "" {
		return nil, wire.Errorf(wire.Forbidden, "", secretText)
	}
	body, files, err := o.body(r, i.Op)
	out := &opened{op: i.Op, files: files}
	if err != nil {
		return out, err
	}
	for _, name := range body.Values(InstanceParam) {
		if name != names[0] {
			return out, wire.Errorf(wire.Invalid, "", "instance: named twice, differently")
		}
	}
	id := int64(0)
	if len(values) > 0 {
		id, _ = digits(values[0]) // pieces found it to be a number
	}
	sent := append(query, body...)
	reads := r.Method == http.MethodGet
	for _, s := range secrets {
		if len(keys) == 0 && verify(s, sent, reads && bare(sent, id)) {
			proof = s
		}
	}
	out.proof = proof
	switch {
	case len(keys) > 0:
	case proof == "":
		return out, wire.Errorf(wire.Forbidden, "", secretText)
	case !reads && len(sent.Without(SignatureParam, InstanceParam)) == 0: // it would be the signature of any read, too
		return out, wire.Errorf(wire.Forbidden, "", emptyText)
	}
	if reads {
		body = query
	}
	if out.form, err = body.Without(SignatureParam, InstanceParam).Tree(); err != nil {
		return out, err
	}
	for _, named := range sent.Values("id") {
		if n, ok := digits(named); named != "" && (!ok || n != id) {
			return out, wire.Errorf(wire.Invalid, "", "id: not that of the path")
		}
	}
	return out, nil
}

// admit gives a proven request to Proven.
func (o HandlerOptions) admit(w http.ResponseWriter, r *http.Request, read rest.Opened, serve http.HandlerFunc) {
	if o.Proven == nil {
		serve(w, r)
		return
	}
	o.Proven(w, r.WithContext(context.WithValue(r.Context(), proofKey{}, read.(*opened).proof)), serve)
}

// proofKey is where the context of a proven request carries its proof.
type proofKey struct{}

// Proof is the secret that a request was proven by, in the context that Proven gets.
func Proof(ctx context.Context) wire.Secret {
	s, _ := ctx.Value(proofKey{}).(wire.Secret)
	return s
}

// bare says that nothing but instance, signature and id was sent.
func bare(sent bracket.Form, id int64) bool {
	for _, p := range sent.Without(SignatureParam, InstanceParam) {
		if p.Name != "id" || p.Value != strconv.FormatInt(id, 10) {
			return false
		}
	}
	return true
}

// body reads a body that may be there: a form, also without a content type, or the same as JSON; multipart where there may be
// attachments.
func (o HandlerOptions) body(r *http.Request, op string) (bracket.Form, []*bracket.File, error) {
	if r.Method == http.MethodGet {
		return nil, nil, nil
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Header.Get("Content-Type") == "" {
		kind, err = formType, nil
	}
	if cs, given := params["charset"]; err != nil || given && !strings.EqualFold(cs, "utf-8") {
		kind = ""
	}
	switch {
	case kind == "multipart/form-data" && op == opCreate && params["boundary"] != "" && r.Header.Get("Content-Encoding") == "":
		return bracket.ReadMultipart(multipart.NewReader(r.Body, params["boundary"]), o.Dir,
			bracket.Limits{Text: o.MaxBody, Bytes: o.MaxFiles})
	case kind == formType, kind == "application/json":
	default:
		return nil, nil, wire.Errorf(wire.Invalid, "", "content type application/x-www-form-urlencoded is wanted")
	}
	data, err := wire.ReadBody(r, o.MaxBody)
	if err != nil {
		return nil, nil, err
	}
	var form bracket.Form
	if kind == "application/json" {
		form, err = bracket.FromJSON(data, bracket.Limits{})
	} else {
		form, err = bracket.Parse(string(data), bracket.Limits{})
	}
	return form, nil, err
}

const formType = "application/x-www-form-urlencoded"

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

// idRecord is the record of a signature check.
type idRecord struct {
	ID int64 `json:"id"`
}

// success is the body of every success.
type success struct {
	Status    string        `json:"status"`
	Data      any           `json:"data"`
	Operation *wire.Pending `json:"operation,omitempty"`
}

// wrap makes the body of a success: the pending operation stands beside the records.
func wrap(out any) any {
	body := success{Status: "success"}
	switch v := out.(type) {
	case Created:
		body.Operation, out = v.Operation, v.record()
	case Link:
		out = v.record()
	case Deleted:
		body.Operation, v.Operation = v.Operation, nil
		out = v
	case Done:
		body.Operation, v.Operation = v.Operation, nil
		out = v
	case []Transaction, []struct{}: // the engine's empty list
		body.Data = v
		return body
	}
	body.Data = []any{out}
	return body
}

// created is the record of a create: the other type of the one amount stands before the link's own.
type created struct {
	Link
	MinAmount string `json:"subscriptionPeriodMinAmount"`
}

func (c Created) record() created {
	l := c.Link
	l.Status = ""
	if l.Reservation == nil {
		l.Reservation = new(Bit)
	}
	if l.Fields.PrivacyPolicy == nil {
		l.Fields.PrivacyPolicy = new(Field)
	}
	if l.PM == nil {
		l.PM = []string{}
	}
	out := created{Link: l}
	if l.SubscriptionPeriodMinAmount != 0 {
		out.MinAmount = strconv.FormatInt(int64(l.SubscriptionPeriodMinAmount), 10)
	}
	return out
}

func (l Link) record() Link {
	l.Reservation, l.Fields.PrivacyPolicy = nil, nil
	if l.PM == nil {
		l.PM = []string{}
	}
	return l
}

// envelope is the body of a success as a Client reads it.
type envelope struct {
	Status    string            `json:"status"`
	Data      []json.RawMessage `json:"data"`
	Operation *wire.Pending     `json:"operation"`
}

// unwrap reads the body of a success. The real service answers errors with 200, too.
func unwrap(c wire.Call, a wire.Answer) (e envelope, err error) {
	if !a.JSON() {
		return e, refusal(c, a, false)
	}
	if err = wire.Decode(a.Body, &e); err == nil {
		err = wire.Required(a.Body, "status", "data")
	}
	if err == nil && e.Status == "success" {
		return e, nil
	}
	if _, _, own := readError(a); own {
		return e, refusal(c, a, false)
	}
	return e, unreadable(c, err)
}

func unreadable(call wire.Call, err error) *wire.Error {
	e := call.Lost("reply not readable")
	e.Err = err
	return e
}

// one reads a success of one record.
func one[Out any](c wire.Call, a wire.Answer) (out Out, err error) {
	e, err := unwrap(c, a)
	if err != nil {
		return out, err
	}
	if len(e.Data) != 1 {
		return out, c.Lost("reply does not have one record")
	}
	if err = wire.Decode(e.Data[0], &out); err == nil {
		err = wire.Required(e.Data[0], "id")
	}
	if err != nil {
		return out, unreadable(c, err)
	}
	switch v := any(&out).(type) {
	case *Created:
		v.Operation = e.Operation
	case *Deleted:
		v.Operation = e.Operation
	case *Done:
		v.Operation = e.Operation
	}
	return out, nil
}

// all reads a success of any number of them.
func all(c wire.Call, a wire.Answer) ([]Transaction, error) {
	e, err := unwrap(c, a)
	if err != nil {
		return nil, err
	}
	out := make([]Transaction, len(e.Data))
	for i, raw := range e.Data {
		if err := wire.Decode(raw, &out[i]); err != nil {
			return nil, unreadable(c, err)
		}
	}
	return out, nil
}

// flaw refuses an answer about another thing than the one asked for (want 0: a new one). What a service calls done and is not
// pending has an id of the backend's own.
func flaw(want, got int64, pending *wire.Pending) string {
	switch {
	case want == 0 && CheckID(got) != nil, want == 0 && pending == nil && got >= FirstLocalID:
		return "reply has no usable id"
	case want != 0 && want != got && want < FirstLocalID:
		return "reply is about another id"
	}
	return ""
}

// shape is how the service says no.
type shape struct{}

var _ rest.Shape = shape{}

// Refuse implements rest.Shape.
func (shape) Refuse(w http.ResponseWriter, _ *http.Request, log *slog.Logger, err *wire.Error) {
	WriteError(w, log, err)
}

// NoRoute implements rest.Shape.
func (shape) NoRoute(w http.ResponseWriter, r *http.Request, allow string) {
	switch {
	case allow != "":
		w.Header().Set("Allow", allow)
		writeText(w, http.StatusMethodNotAllowed, noRoute, "Method not allowed, use "+allow)
	case !strings.HasPrefix(r.URL.Path, Prefix) && !strings.HasPrefix(r.URL.Path, ShortPrefix):
		writeText(w, http.StatusNotFound, noRoute, "Version not found.")
	default:
		writeText(w, http.StatusNotFound, noRoute, "No such route")
	}
}

// Refusal implements rest.Shape.
func (shape) Refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error { return refusal(c, a, keyed) }
