package tokens

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"posagent/schemes/wire"
)

// Prefix is the service's path (S0 4.2), in any case of letters, with and without a slash at its end.
const Prefix = "/api/v1/tokens"

// Is says whether a request is for this service, for a router that compares paths as they are written.
func Is(r *http.Request) bool {
	_, ok := wire.FoldSegments(r, Prefix)
	return ok
}

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions struct {
	Log          *slog.Logger              // gets internal errors; nil drops them
	MaxBody      int64                     // bytes of a request body; 0 means wire.MaxRequest
	OperationURL func(key wire.Key) string // names a pending operation in the Location header; nil = none
}

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler { return &handler{svc: svc, opts: opts} }

type handler struct {
	svc  Service
	opts HandlerOptions
}

// perform asks the service.
type perform func(context.Context, wire.Key) (Created, error)

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pieces, ok := wire.FoldSegments(r, Prefix)
	op, allow := "", http.MethodPost
	switch {
	case !ok || len(pieces) > 2:
	case len(pieces) == 0:
		op = opCreate
	case len(pieces) == 2:
		if strings.EqualFold(pieces[1], "verify") {
			op = opVerify
		}
	case strings.EqualFold(pieces[0], "recurring"):
		op = opRecurring
	default:
		op, allow = opToken, http.MethodGet
	}
	switch {
	case op == "":
		wire.WriteProblemNoRoute(w, r, "")
	case r.Method != allow:
		wire.WriteProblemNoRoute(w, r, allow)
	case op == opToken:
		h.token(w, r, pieces[0])
	default:
		id := ""
		if op == opVerify {
			id = pieces[0]
		}
		h.write(w, r, op, id)
	}
}

// write performs a write, refusing in an order that costs a bad request the least.
func (h *handler) write(w http.ResponseWriter, r *http.Request, op, id string) {
	key, err := wire.KeyFrom(r.Header)
	if err == nil && op == opVerify {
		err = checkID(op, id)
	}
	var data []byte
	if err == nil {
		data, err = wire.ReadBody(r, h.opts.MaxBody)
	}
	if err == nil && (op != opVerify || len(data) > 0) {
		_, err = wire.CheckJSON(r.Header.Get("Content-Type"))
	}
	var run perform
	if err == nil {
		run, err = h.prepare(op, id, data)
	}
	var out Created
	if err == nil {
		out, err = run(r.Context(), key)
	}
	status := http.StatusCreated
	switch {
	case err != nil:
		h.fail(w, r, op, err)
		return
	case out.Operation != nil:
		status = http.StatusAccepted
		if h.opts.OperationURL != nil {
			w.Header().Set("Location", h.opts.OperationURL(out.Operation.Key))
		}
	case op == opVerify:
		status = http.StatusOK
	}
	wire.Reply(w, h.opts.Log, op, status, ContentType, out)
}

func (h *handler) prepare(op, id string, data []byte) (perform, error) {
	switch op {
	case opCreate:
		req, err := DecodeCreate(data)
		if err == nil {
			err = Validate(req)
		}
		return func(ctx context.Context, key wire.Key) (Created, error) { return h.svc.Create(ctx, key, req) }, err
	case opRecurring:
		req, err := DecodeRecurring(data)
		if err == nil {
			err = ValidateRecurring(req)
		}
		return func(ctx context.Context, key wire.Key) (Created, error) { return h.svc.CreateRecurring(ctx, key, req) }, err
	}
	var err error
	if len(data) > 0 {
		err = wire.Check(data)
	}
	return func(ctx context.Context, key wire.Key) (Created, error) { return h.svc.Verify(ctx, key, id) }, err
}

func (h *handler) token(w http.ResponseWriter, r *http.Request, id string) {
	err := CheckID(id)
	var reply TokenReply
	if err == nil {
		reply, err = h.svc.Token(r.Context(), id)
	}
	if err != nil {
		h.fail(w, r, opToken, err)
		return
	}
	wire.Reply(w, h.opts.Log, opToken, http.StatusOK, ContentType, readable{reply})
}

// readable writes a token with EncodeToken.
type readable struct{ r TokenReply }

// MarshalJSON implements json.Marshaler.
func (r readable) MarshalJSON() ([]byte, error) { return EncodeToken(r.r) }

// fail answers with a problem, and an internal error with the token error body (S0 7).
func (h *handler) fail(w http.ResponseWriter, r *http.Request, op string, err error) {
	e := wire.AsError(op, err)
	if e.Code != wire.Internal {
		wire.WriteProblem(w, r, h.opts.Log, e, Problems())
		return
	}
	if h.opts.Log != nil {
		h.opts.Log.Error("request failed", "op", e.Op, "err", e)
	}
	var f *Fault
	if !errors.As(e.Err, &f) {
		f = &Fault{System: Netaxept, ErrorMessage: "internal error", Detail: "the service failed, the effect is not known", ErrorCode: string(wire.Internal), Source: "tokens"}
	}
	wire.Reply(w, h.opts.Log, op, http.StatusInternalServerError, ContentType, f)
}
