package paylinks

import (
	"context"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

// Paths of the service (S1 4.1). The official client writes version 1.0 as v1.
const (
	Prefix      = "/v1.0/"
	ShortPrefix = "/v1/"
)

// HandlerOptions adjusts a Handler. Without Secret every request is refused.
type HandlerOptions struct {
	Log          *slog.Logger                               // gets internal errors; nil drops them
	Secret       func(instance string) (wire.Secret, error) // of an account; "" = no such account
	MaxBody      int64                                      // bytes of a body's texts; 0 means wire.MaxRequest
	MaxFiles     int64                                      // bytes of a link's attachments; 0 means bracket.MaxFiles
	Dir          string                                     // where attachments lie while a request is served; "" = the system's folder
	OperationURL func(key wire.Key) string                  // names a pending operation in the Location header; nil = none

	// Others are more secrets that an account's requests may be proven by; nil = none. Proof tells which one it was.
	Others func(instance string) []wire.Secret
	// Proven gets every request whose proof is good, and calls serve or answers itself; nil = serve.
	Proven func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)
}

// Handler serves links and txns at Prefix and ShortPrefix, and answers the signature check itself. Host checks and time limits are
// the caller's; the proof of who calls is checked here, because it lies in the parameters.
func Handler(links Links, txns Transactions, opts HandlerOptions) http.Handler {
	return &handler{links: links, txns: txns, opts: opts}
}

type handler struct {
	links Links
	txns  Transactions
	opts  HandlerOptions
}

// The resources of the paths.
const (
	invoices     = "Invoice"
	transactions = "Transaction"
	signatures   = "SignatureCheck"
)

// request is one call taken apart and proven.
type request struct {
	proof wire.Secret // what it was proven by
	*http.Request
	op    string
	id    int64
	key   wire.Key
	form  *bracket.Object
	files []*bracket.File
}

// answer is what a route came to; op is set where it is a pending operation.
type answer struct {
	data any
	op   *wire.Pending
}

// route is one row of S1 4.1.
type route struct {
	object, verb, method string
	withID               bool
	op                   string
	want                 string // the status a thing must have, for the refusal's text
	do                   func(*handler, *request) (answer, error)
}

var routes = [...]route{
	{signatures, "", http.MethodGet, false, opCheck, "", (*handler).check},
	{invoices, "", http.MethodPost, false, opCreate, "", (*handler).create},
	{invoices, "", http.MethodGet, true, opRead, "", (*handler).read},
	{invoices, "", http.MethodDelete, true, opDelete, string(Waiting), (*handler).drop},
	{transactions, "", http.MethodGet, false, opList, "", (*handler).list},
	{transactions, "", http.MethodGet, true, opTxn, "", (*handler).txn},
	{transactions, "", http.MethodPost, true, opCharge, heldText, (*handler).charge},
	{transactions, "charge", http.MethodPost, true, opCharge, heldText, (*handler).charge},
	{transactions, "capture", http.MethodPost, true, opCapture, heldText, (*handler).capture},
	{transactions, "refund", http.MethodPost, true, opRefund, string(Confirmed), (*handler).refund},
	{transactions, "", http.MethodDelete, true, opCancel, string(Reserved), (*handler).cancel},
}

const heldText = string(Authorized) + ", " + string(Reserved)

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rt, id, allow := find(r)
	if rt == nil {
		if allow != "" {
			w.Header().Set("Allow", allow)
			writeText(w, http.StatusMethodNotAllowed, noRoute, "Method not allowed, use "+allow)
			return
		}
		text := "No such route"
		if !strings.HasPrefix(r.URL.Path, Prefix) && !strings.HasPrefix(r.URL.Path, ShortPrefix) {
			text = "Version not found."
		}
		writeText(w, http.StatusNotFound, noRoute, text)
		return
	}
	req, err := h.open(rt, id, r)
	if req != nil {
		defer bracket.CloseAll(req.files)
	}
	switch {
	case err != nil:
		WriteError(w, h.opts.Log, wire.AsError(rt.op, err))
	case h.opts.Proven == nil:
		h.serve(w, rt, req)
	default:
		h.opts.Proven(w, r.WithContext(context.WithValue(r.Context(), proofKey{}, req.proof)), func(w http.ResponseWriter, r *http.Request) {
			req.Request = r
			h.serve(w, rt, req)
		})
	}
}

// serve does what a proven request asks for.
func (h *handler) serve(w http.ResponseWriter, rt *route, req *request) {
	a, err := rt.do(h, req)
	if err != nil {
		WriteError(w, h.opts.Log, wire.AsError(rt.op, notFound(err, rt.object, req.id, rt.want)))
		return
	}
	status := http.StatusOK
	if a.op != nil {
		status = http.StatusAccepted
		if h.opts.OperationURL != nil {
			w.Header().Set("Location", h.opts.OperationURL(a.op.Key))
		}
	}
	wire.Reply(w, h.opts.Log, rt.op, status, ContentType, struct {
		Status    string        `json:"status"`
		Data      any           `json:"data"`
		Operation *wire.Pending `json:"operation,omitempty"`
	}{"success", a.data, a.op})
}

// find picks the route of a request. Without one, allow names the methods its path has.
func find(r *http.Request) (_ *route, id int64, allow string) {
	pieces, ok := wire.Segments(r, Prefix)
	if !ok {
		if pieces, ok = wire.Segments(r, ShortPrefix); !ok {
			return nil, 0, ""
		}
	}
	withID, verb := false, ""
	if len(pieces) > 1 {
		if id, ok = digits(pieces[1]); !ok {
			return nil, 0, ""
		}
		withID = id != 0 // clients write 0 where there is none
	}
	if len(pieces) > 2 {
		verb = pieces[2]
	}
	if len(pieces) > 3 {
		return nil, 0, ""
	}
	var methods []string
	for i := range routes {
		rt := &routes[i]
		if rt.object != pieces[0] || rt.verb != verb || rt.withID != withID {
			continue
		}
		if rt.method == r.Method {
			return rt, id, ""
		}
		methods = append(methods, rt.method)
	}
	return nil, 0, strings.Join(methods, ", ")
}

// open reads what a request carries and checks who sent it: before that is proven, nothing but the account's name is looked at. The
// request it returns beside an error holds files.
func (h *handler) open(rt *route, id int64, r *http.Request) (*request, error) {
	query, err := bracket.Parse(r.URL.RawQuery, bracket.Limits{})
	if err != nil {
		return nil, err
	}
	names := query.Values(InstanceParam)
	if len(names) != 1 || names[0] == "" {
		return nil, &wire.Error{Code: wire.Invalid, Reason: unprocessable, Msg: formText}
	}
	secret := wire.Secret("")
	if h.opts.Secret != nil {
		if secret, err = h.opts.Secret(names[0]); err != nil {
			return nil, err
		}
	}
	secrets := []wire.Secret{secret}
	if h.opts.Others != nil {
		secrets = append(secrets, h.opts.Others(names[0])...)
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
	req := &request{Request: r, op: rt.op, id: id}
	body, files, err := h.body(rt, r)
	req.files = files
	if err != nil {
		return req, err
	}
	for _, name := range body.Values(InstanceParam) {
		if name != names[0] {
			return req, wire.Errorf(wire.Invalid, "", "instance: named twice, differently")
		}
	}
	sent := append(query, body...)
	reads := rt.method == http.MethodGet
	for _, s := range secrets {
		if len(keys) == 0 && verify(s, sent, reads && bare(sent, id)) {
			proof = s
		}
	}
	req.proof = proof
	switch {
	case len(keys) > 0:
	case proof == "":
		return req, wire.Errorf(wire.Forbidden, "", secretText)
	case !reads && len(sent.Without(SignatureParam, InstanceParam)) == 0: // it would be the signature of any read, too
		return req, wire.Errorf(wire.Forbidden, "", emptyText)
	}
	if req.key, err = wire.KeyFrom(r.Header); err != nil {
		return req, err
	}
	if rt.method == http.MethodGet {
		body = query
	}
	if req.form, err = body.Without(SignatureParam, InstanceParam).Tree(); err != nil {
		return req, err
	}
	for _, named := range sent.Values("id") {
		if n, ok := digits(named); named != "" && (!ok || n != id) {
			return req, wire.Errorf(wire.Invalid, "", "id: not that of the path")
		}
	}
	return req, nil
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
func (h *handler) body(rt *route, r *http.Request) (bracket.Form, []*bracket.File, error) {
	if r.Method == http.MethodGet {
		return nil, nil, nil
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Header.Get("Content-Type") == "" {
		kind, err = "application/x-www-form-urlencoded", nil
	}
	if cs, given := params["charset"]; err != nil || given && !strings.EqualFold(cs, "utf-8") {
		kind = ""
	}
	switch {
	case kind == "multipart/form-data" && rt.op == opCreate && params["boundary"] != "" && r.Header.Get("Content-Encoding") == "":
		return bracket.ReadMultipart(multipart.NewReader(r.Body, params["boundary"]), h.opts.Dir,
			bracket.Limits{Text: h.opts.MaxBody, Bytes: h.opts.MaxFiles})
	case kind == "application/x-www-form-urlencoded", kind == "application/json":
	default:
		return nil, nil, wire.Errorf(wire.Invalid, "", "content type application/x-www-form-urlencoded is wanted")
	}
	data, err := wire.ReadBody(r, h.opts.MaxBody)
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

func one[T any](v T, op *wire.Pending, err error) (answer, error) {
	return answer{data: []T{v}, op: op}, err
}

func (h *handler) check(*request) (answer, error) {
	return one(idRecord{1}, nil, nil)
}

func (h *handler) create(r *request) (answer, error) {
	req, err := readCreate(r.form, r.files)
	if err != nil {
		return answer{}, err
	}
	if err := req.Validate(); err != nil {
		return answer{}, err
	}
	made, err := h.links.Create(r.Context(), r.key, req)
	return one(createdRecord(made), made.Operation, err)
}

func (h *handler) read(r *request) (answer, error) {
	l, err := h.links.Read(r.Context(), r.id)
	l.Reservation, l.Fields.PrivacyPolicy = nil, nil
	if l.PM == nil {
		l.PM = []string{}
	}
	return one(l, nil, err)
}

func (h *handler) drop(r *request) (answer, error) {
	d, err := h.links.Delete(r.Context(), r.key, r.id)
	return one(idRecord{d.ID}, d.Operation, err)
}

func (h *handler) txn(r *request) (answer, error) {
	t, err := h.txns.Read(r.Context(), r.id)
	return one(t, nil, err)
}

func (h *handler) list(r *request) (answer, error) {
	f, err := readFilter(r.form)
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		return answer{}, err
	}
	found, err := h.txns.List(r.Context(), f)
	if found == nil {
		found = []Transaction{}
	}
	return answer{data: found}, err
}

func (h *handler) charge(r *request) (answer, error) {
	in := reader{form: r.form}
	req := ChargeRequest{Amount: in.optional("amount"), Purpose: wire.MaskPANs(in.text("purpose")), ReferenceID: in.text("referenceId")}
	err := in.err(opCharge)
	if err == nil {
		err = req.Validate()
	}
	if err != nil {
		return answer{}, err
	}
	return reduced(h.txns.Charge(r.Context(), r.key, r.id, req))
}

func (h *handler) capture(r *request) (answer, error) {
	return reduced(h.txns.Capture(r.Context(), r.key, r.id))
}

func (h *handler) refund(r *request) (answer, error) {
	in := reader{form: r.form}
	req := RefundRequest{Amount: in.optional("amount")}
	err := in.err(opRefund)
	if err == nil {
		err = req.Validate()
	}
	if err != nil {
		return answer{}, err
	}
	return reduced(h.txns.Refund(r.Context(), r.key, r.id, req))
}

func (h *handler) cancel(r *request) (answer, error) {
	d, err := h.txns.Delete(r.Context(), r.key, r.id)
	return one(idRecord{d.ID}, d.Operation, err)
}

func reduced(d Done, err error) (answer, error) {
	op := d.Operation
	d.Operation = nil
	return one(d, op, err)
}

// idRecord is the record of a delete and of a signature check.
type idRecord struct {
	ID int64 `json:"id"`
}

// created is the record of a create: the other type of the one amount stands before the link's own.
type created struct {
	Link
	MinAmount string `json:"subscriptionPeriodMinAmount"`
}

func createdRecord(c Created) created {
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

// proofKey is where the context of a proven request carries its proof.
type proofKey struct{}

// Proof is the secret that a request was proven by, in the context that Proven gets.
func Proof(ctx context.Context) wire.Secret {
	s, _ := ctx.Value(proofKey{}).(wire.Secret)
	return s
}
