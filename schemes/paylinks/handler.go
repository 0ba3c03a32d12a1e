package paylinks

import (
	"context"
	"encoding/json"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
	"posagent/schemes/wire/rest"
)

// HandlerOptions adjusts a Handler. Without Secret every request is refused.
type HandlerOptions struct {
	Log          *slog.Logger                               // gets internal errors; nil drops them
	Secret       func(instance string) (wire.Secret, error) // of an account; "" = no such account
	MaxBody      int64                                      // bytes of a body's texts; 0 means wire.MaxRequest
	MaxFiles     int64                                      // bytes of a link's attachments; 0 means bracket.MaxFiles
	Dir          string                                     // where attachments lie while a request is served; "" = the system's folder
	OperationURL func(key wire.Key) string                  // names a pending operation in the Location header; nil = none

	// Strict refuses a write that is proven by the signature of the empty text. That one is the same for every request without
	// parameters, so whoever has seen one read may write with it.
	Strict bool

	// Others are more secrets that an account's requests may be proven by; nil = none. Proof tells which one it was.
	Others func(instance string) []wire.Secret
	// Proven gets every request whose proof is good, and calls serve or answers itself; nil = serve.
	Proven func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)
	// Around gets every good request in place of the service; nil = the service.
	Around func(ctx context.Context, a *rest.Asked) (any, error)
}

// Handler serves links and txns at Prefix and ShortPrefix, and answers the signature check itself. Host checks and time limits are
// the caller's; the proof of who calls is checked here, because it lies in the parameters.
func Handler(links Links, txns Transactions, opts HandlerOptions) http.Handler {
	svc := Service{links, txns}
	return api.Handler(opts.Rest(), Table().Bind(svc), rest.Table[Service]{&chargeToo}.Bind(svc))
}

// Rest are the engine's options: how a request is opened and proven.
func (o HandlerOptions) Rest() rest.Options {
	return rest.Options{Log: o.Log, OperationURL: o.OperationURL, Open: o.open, Admit: o.admit, Around: o.Around}
}

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
		why := "instance: missing in the query"
		if len(names) > 1 {
			why = "instance: named twice in the query"
		}
		return nil, &wire.Error{Code: wire.Invalid, Reason: unprocessable, Msg: formText + ": " + why}
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
	strict := o.Strict && !reads
	for _, s := range secrets {
		if len(keys) == 0 && verify(s, sent, !strict && bare(sent, id)) {
			proof = s
		}
	}
	out.proof = proof
	switch {
	case len(keys) > 0:
	case proof == "":
		return out, wire.Errorf(wire.Forbidden, "", secretText)
	case strict && len(sent.Without(SignatureParam, InstanceParam)) == 0: // it is the signature of any read, too
		return out, wire.Errorf(wire.Forbidden, "", emptyText)
	}
	if reads {
		body = query
	} else if err = unread(query, body); err == nil {
		err = whole(i.Op, sent)
	}
	if err != nil {
		return out, err
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
		if form, err = bracket.FromJSON(data, bracket.Limits{}); err == nil {
			err = nothing(data)
		}
	} else if form, err = bracket.Parse(string(data), bracket.Limits{}); err == nil {
		err = formless(form)
	}
	return form, nil, err
}

// nothing refuses a JSON object in which a parameter of valued, however it is spelled, has null, an array or an object: where that holds
// no text, the form would not have the parameter at all.
func nothing(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return wire.Errorf(wire.Invalid, "", "body: want a JSON object")
	}
	for _, name := range valued() {
		for sent, v := range all {
			if wire.SameName(sent, name) && len(v) > 0 && strings.ContainsRune("n{[", rune(v[0])) {
				return &wire.FieldError{Path: name, Reason: "empty, or no text (leave it out, or give a value)", Code: wire.Invalid}
			}
		}
	}
	return nil
}

const formType = "application/x-www-form-urlencoded"
