package aapay

import (
	"log/slog"
	"net/http"

	"posagent/schemes/wire"
)

// Prefix is the service's path (S1 4.3).
const Prefix = "/ms/aapay/v2/transaction/"

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions struct {
	Log          *slog.Logger              // gets internal errors; nil drops them
	MaxBody      int64                     // bytes of a request body; 0 means wire.MaxRequest
	OperationURL func(key wire.Key) string // names a pending operation in the Location header; nil = none
}

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	return &handler{svc: svc, opts: opts}
}

type handler struct {
	svc  Service
	opts HandlerOptions
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pieces, ok := wire.Segments(r, Prefix)
	if !ok || len(pieces) != 2 {
		wire.WriteNoRoute(w, ContentType)
		return
	}
	switch pieces[1] {
	case "status":
		if r.Method != http.MethodGet {
			wire.WriteMethodNotAllowed(w, ContentType, http.MethodGet)
			return
		}
		h.status(w, r, pieces[0])
	case "initialize", "initializeWithIdempotency":
		if r.Method != http.MethodPost {
			wire.WriteMethodNotAllowed(w, ContentType, http.MethodPost)
			return
		}
		h.initialize(w, r, pieces[0], pieces[1] != "initialize")
	default:
		wire.WriteNoRoute(w, ContentType)
	}
}

func (h *handler) initialize(w http.ResponseWriter, r *http.Request, word string, needKey bool) {
	typ, key, req, err := h.read(r, word, needKey)
	if err != nil {
		h.fail(w, opInitialize, err)
		return
	}
	var reply Reply
	if key != "" {
		reply, err = h.svc.InitializeWithIdempotency(r.Context(), key, typ, req)
	} else {
		reply, err = h.svc.Initialize(r.Context(), typ, req)
	}
	if err != nil {
		h.fail(w, opInitialize, err)
		return
	}
	if reply.HTTPStatus != http.StatusCreated && reply.HTTPStatus != http.StatusAccepted {
		h.fail(w, opInitialize, wire.Errorf(wire.Internal, opInitialize, "service answered status %d", reply.HTTPStatus))
		return
	}
	if reply.Operation != nil && h.opts.OperationURL != nil {
		w.Header().Set("Location", h.opts.OperationURL(reply.Operation.Key))
	}
	h.write(w, reply.HTTPStatus, opInitialize, reply)
}

// read takes the request apart, in an order that costs a bad one the least.
func (h *handler) read(r *http.Request, word string, needKey bool) (Type, wire.Key, Request, error) {
	typ, ok := ParseType(word)
	if !ok {
		return "", "", Request{}, wire.Errorf(wire.Invalid, opInitialize, "type: want payment, refund or reversal")
	}
	params, err := wire.CheckJSON(r.Header.Get("Content-Type"))
	if err != nil {
		return "", "", Request{}, err
	}
	if v, given := params["version"]; given && v != version {
		return "", "", Request{}, wire.Errorf(wire.Invalid, opInitialize, "content type version=%s is wanted", version)
	}
	key, err := wire.KeyFrom(r.Header)
	if err != nil {
		return "", "", Request{}, err
	}
	if needKey && key == "" {
		return "", "", Request{}, wire.Errorf(wire.Invalid, opInitialize, "header %s: missing", wire.KeyHeader)
	}
	data, err := wire.ReadBody(r, h.opts.MaxBody)
	if err != nil {
		return "", "", Request{}, err
	}
	req, err := DecodeRequest(data)
	if err != nil {
		return "", "", Request{}, err
	}
	return typ, key, req, Validate(typ, req)
}

func (h *handler) status(w http.ResponseWriter, r *http.Request, id string) {
	err := CheckID(id)
	methods := r.URL.Query()["method"]
	method := ""
	if len(methods) > 0 {
		method = methods[0]
	}
	if err == nil && (len(methods) > 1 || !wire.PlainText(method, MaxID)) {
		err = wire.Errorf(wire.Invalid, opStatus, "method: want one of at most %d characters", MaxID)
	}
	if err != nil {
		h.fail(w, opStatus, err)
		return
	}
	st, err := h.svc.Status(r.Context(), id, method)
	if err != nil {
		h.fail(w, opStatus, err)
		return
	}
	h.write(w, http.StatusOK, opStatus, st)
}

func (h *handler) fail(w http.ResponseWriter, op string, err error) {
	wire.WriteFault(w, h.opts.Log, ContentType, wire.AsError(op, err))
}

func (h *handler) write(w http.ResponseWriter, status int, op string, v any) {
	wire.Reply(w, h.opts.Log, op, status, ContentType, v)
}
