package disputes

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Prefix is the service's path (S1 4.2), in any case of letters, with and without a slash at its end.
const Prefix = "/api/v1/disputes"

// Is says whether a request is for this service, for a router that compares paths as they are written.
func Is(r *http.Request) bool {
	_, ok := wire.FoldSegments(r, Prefix)
	return ok
}

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions struct {
	Log      *slog.Logger // gets internal errors; nil drops them
	Dir      string       // of documents under way; "" = the system's folder for such things
	Operator string       // its own spelling of the provider… fields is read too; "" means DefaultOperator
}

// Handler serves svc and keys at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, keys Keys, opts HandlerOptions) http.Handler {
	return &handler{svc: svc, keys: keys, opts: opts}
}

type handler struct {
	svc  Service
	keys Keys
	opts HandlerOptions
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pieces, ok := wire.FoldSegments(r, Prefix)
	allow := http.MethodPost
	var serve func(http.ResponseWriter, *http.Request)
	switch {
	case !ok || len(pieces) > 2:
	case len(pieces) == 0:
		serve = h.create
	case len(pieces) == 2:
		if strings.EqualFold(pieces[0], "document") {
			allow, serve = http.MethodGet, func(w http.ResponseWriter, r *http.Request) { h.document(w, r, pieces[1]) }
		}
	case strings.EqualFold(pieces[0], "list"):
		serve = h.list
	case strings.EqualFold(pieces[0], "list-cases-by-queue"):
		serve = h.queue
	case strings.EqualFold(pieces[0], "key"):
		allow, serve = http.MethodGet, h.key
	default:
		allow, serve = http.MethodPatch, func(w http.ResponseWriter, r *http.Request) { h.update(w, r, pieces[0]) }
	}
	switch {
	case serve == nil:
		wire.WriteProblemNoRoute(w, r, "")
	case r.Method != allow:
		wire.WriteProblemNoRoute(w, r, allow)
	default:
		serve(w, r)
	}
}

// envelope checks what stands around a body of documents, refusing in an order that costs a bad request the least.
func envelope(r *http.Request) (wire.Key, error) {
	key, err := wire.KeyFrom(r.Header)
	if err == nil {
		_, err = wire.CheckJSON(r.Header.Get("Content-Type"))
	}
	if err == nil && r.ContentLength > MaxBody {
		err = wire.Errorf(wire.TooLarge, "", "body above %d bytes", MaxBody)
	}
	if err == nil {
		err = wire.Identity(r.Header)
	}
	return key, err
}

func (h *handler) create(w http.ResponseWriter, r *http.Request) {
	var req CreateRequest
	var out CreateReply
	key, err := envelope(r)
	if err == nil {
		var release func()
		req, release, err = DecodeCreate(r.Body, h.opts.Dir, h.opts.Operator)
		defer release()
	}
	if err == nil {
		err = Validate(req)
	}
	if err == nil {
		out, err = h.svc.Create(r.Context(), key, req)
	}
	code, text, done := h.failed(w, r, opCreate, err)
	if done {
		return
	}
	if code != "" {
		out = CreateReply{ResponseCode: Failed, ErrorCode: code, ErrorText: text, IssuerSuperCaseID: req.IssuerSuperCaseID, IssuerTransactionID: req.IssuerTransactionID}
	}
	if out.Documents == nil {
		out.Documents = []DocumentError{}
	}
	h.reply(w, opCreate, out)
}

func (h *handler) update(w http.ResponseWriter, r *http.Request, id string) {
	var req UpdateRequest
	var out UpdateReply
	key, err := envelope(r)
	if err == nil {
		var release func()
		req, release, err = DecodeUpdate(r.Body, h.opts.Dir)
		defer release()
	}
	if err == nil {
		err = ValidateUpdate(id, req)
	}
	if err == nil {
		out, err = h.svc.Update(r.Context(), key, id, req)
	}
	code, text, done := h.failed(w, r, opUpdate, err)
	if done {
		return
	}
	if code != "" {
		out = UpdateReply{ResponseCode: Failed, ErrorCode: code, ErrorText: text}
	}
	if out.Documents == nil {
		out.Documents = []DocumentError{}
	}
	h.reply(w, opUpdate, out)
}

// small reads a body without documents.
func small(r *http.Request) ([]byte, error) {
	data, err := wire.ReadBody(r, 0)
	if err == nil {
		_, err = wire.CheckJSON(r.Header.Get("Content-Type"))
	}
	return data, err
}

func (h *handler) list(w http.ResponseWriter, r *http.Request) {
	var req ListRequest
	var out ListReply
	data, err := small(r)
	if err == nil {
		req, err = DecodeList(data)
	}
	if err == nil {
		err = ValidateList(req)
	}
	if err == nil {
		out, err = h.svc.List(r.Context(), req)
	}
	code, text, done := h.failed(w, r, opList, err)
	if done {
		return
	}
	if code != "" {
		out = ListReply{ResponseCode: Failed, ErrorCode: code, ErrorText: text, More: No}
	}
	if out.Cases == nil {
		out.Cases = []Case{}
	}
	h.reply(w, opList, out)
}

func (h *handler) queue(w http.ResponseWriter, r *http.Request) {
	var req QueueRequest
	var out QueueReply
	data, err := small(r)
	if err == nil {
		req, err = DecodeQueue(data)
	}
	if err == nil {
		err = ValidateQueue(req)
	}
	if err == nil {
		out, err = h.svc.Queue(r.Context(), req)
	}
	code, text, done := h.failed(w, r, opQueue, err)
	if done {
		return
	}
	if code != "" {
		out = QueueReply{ResponseCode: Failed, ErrorCode: code, ErrorText: text, More: No}
	}
	if out.Cases == nil {
		out.Cases = []QueueCase{}
	}
	h.reply(w, opQueue, out)
}

func (h *handler) key(w http.ResponseWriter, r *http.Request) {
	out, err := h.keys.PublicKey(r.Context())
	if err != nil {
		wire.WriteProblem(w, r, h.opts.Log, wire.AsError(opKey, err), nil)
		return
	}
	h.reply(w, opKey, out)
}

func (h *handler) document(w http.ResponseWriter, r *http.Request, id string) {
	var f File
	q := r.URL.Query()
	limit, err := sizeLimit(q.Get("sizeLimit"))
	if err == nil && !wire.PlainText(q.Get("encoding"), MaxID) {
		err = wire.Errorf(wire.Invalid, opDocument, "encoding: not a word")
	}
	if err == nil {
		err = CheckDocumentID(id)
	}
	if err == nil {
		f, err = h.svc.Document(r.Context(), id, limit)
	}
	var m *message
	if err == nil {
		defer f.Close()
		var text []byte
		if text, err = json.Marshal(download(f, r.URL.EscapedPath())); err == nil {
			m, err = compose(text, "content", []Binary{f.Content})
		}
	}
	if err != nil {
		wire.WriteProblem(w, r, h.opts.Log, wire.AsError(opDocument, err), nil)
		return
	}
	head := w.Header()
	head.Set("Content-Type", ContentType)
	head.Set("Content-Length", strconv.FormatInt(m.length, 10))
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	body, err := m.open()
	if err == nil {
		_, err = io.Copy(w, body)
		_ = body.Close() // it was only read
	}
	if err != nil {
		if h.opts.Log != nil {
			h.opts.Log.Warn("document not sent", "op", opDocument, "err", err)
		}
		panic(http.ErrAbortHandler) // the length was promised: a shorter body must not look whole
	}
}

// sizeLimit reads the parameter: a number of bytes, 0 = absent.
func sizeLimit(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 63)
	if err != nil || n <= 0 || s[0] < '1' || s[0] > '9' {
		return 0, wire.Errorf(wire.Invalid, opDocument, "sizeLimit: want a number of bytes")
	}
	return n, nil
}

// failed deals with an error: one of S1 7 comes back as its code and text, the others are answered here (done).
func (h *handler) failed(w http.ResponseWriter, r *http.Request, op string, err error) (code, text string, done bool) {
	if err == nil {
		return "", "", false
	}
	e := wire.AsError(op, err)
	if code, text = refusal(e); code == "" {
		wire.WriteProblem(w, r, h.opts.Log, e, nil)
		return "", "", true
	}
	if e.Code == wire.Internal && h.opts.Log != nil {
		h.opts.Log.Error("request failed", "op", e.Op, "err", e)
	}
	return code, text, false
}

func (h *handler) reply(w http.ResponseWriter, op string, v any) {
	wire.Reply(w, h.opts.Log, op, http.StatusOK, ContentType, v)
}
