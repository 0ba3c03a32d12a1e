package payments

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"posagent/schemes/wire"
)

// Prefix is the service's path (S0 4.1), in any case of letters, with and without a slash at its end.
const Prefix = "/api/v1/payments"

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
	Operator     string                    // its own spelling of ProviderHosted is accepted too; "" means DefaultOperator
}

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler { return &handler{svc: svc, opts: opts} }

type handler struct {
	svc  Service
	opts HandlerOptions
}

// act is one kind of write: it reads and checks the body and says how to perform it.
type act func(id string, data []byte) (perform, error)

// perform asks the service; pending is set where the call is stored only.
type perform func(context.Context, wire.Key) (body any, pending *wire.Pending, err error)

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pieces, ok := wire.FoldSegments(r, Prefix)
	var do act
	op, status, allow, id := "", http.StatusOK, http.MethodPost, ""
	switch {
	case !ok || len(pieces) > 2:
	case len(pieces) == 0:
		op, status, do = opCreate, http.StatusCreated, h.create
	case len(pieces) == 1:
		op, allow, id = opRead, http.MethodGet, pieces[0]
	default:
		id = pieces[0]
		op, do = h.operation(pieces[1])
	}
	switch {
	case op == "":
		wire.WriteProblemNoRoute(w, r, "")
	case r.Method != allow:
		wire.WriteProblemNoRoute(w, r, allow)
	case do == nil:
		h.read(w, r, id)
	default:
		h.write(w, r, op, status, id, do)
	}
}

func (h *handler) operation(name string) (string, act) {
	switch strings.ToLower(name) {
	case "authorize":
		return opAuthorize, on(DecodeAuthorize, ValidateAuthorize, h.svc.Authorize)
	case "cancel":
		return opCancel, on(DecodeCancel, ValidateCancel, h.svc.Cancel)
	case "capture":
		return opCapture, on(DecodeCapture, ValidateCapture, h.svc.Capture)
	case "refund":
		return opRefund, on(DecodeRefund, ValidateRefund, h.svc.Refund)
	}
	return "", nil
}

// on makes the act of an operation on a payment.
func on[R any](decode func([]byte) (R, error), check func(string, R) error, call func(context.Context, wire.Key, string, R) (Done, error)) act {
	return func(id string, data []byte) (perform, error) {
		req, err := decode(data)
		if err == nil {
			err = check(id, req)
		}
		return func(ctx context.Context, key wire.Key) (any, *wire.Pending, error) {
			d, err := call(ctx, key, id, req)
			return d, d.Operation, err
		}, err
	}
}

func (h *handler) create(_ string, data []byte) (perform, error) {
	req, err := DecodeCreate(data, h.opts.Operator)
	if err == nil {
		err = Validate(req)
	}
	return func(ctx context.Context, key wire.Key) (any, *wire.Pending, error) {
		c, err := h.svc.Create(ctx, key, req)
		return c, c.Operation, err
	}, err
}

// write performs a write, refusing in an order that costs a bad request the least.
func (h *handler) write(w http.ResponseWriter, r *http.Request, op string, status int, id string, do act) {
	var err error
	empty := op != opCreate && r.ContentLength == 0
	if !empty || r.Header.Get("Content-Type") != "" {
		_, err = wire.CheckJSON(r.Header.Get("Content-Type"))
	}
	var key wire.Key
	if err == nil {
		key, err = wire.KeyFrom(r.Header)
	}
	var data []byte
	if err == nil {
		data, err = wire.ReadBody(r, h.opts.MaxBody)
	}
	if op != opCreate && len(data) == 0 {
		data = []byte("{}")
	}
	var run perform
	if err == nil {
		run, err = do(id, data)
	}
	var body any
	var pending *wire.Pending
	if err == nil {
		body, pending, err = run(r.Context(), key)
	}
	if err != nil {
		h.fail(w, r, op, err)
		return
	}
	if pending != nil {
		status = http.StatusAccepted
		if h.opts.OperationURL != nil {
			w.Header().Set("Location", h.opts.OperationURL(pending.Key))
		}
	}
	wire.Reply(w, h.opts.Log, op, status, ContentType, body)
}

func (h *handler) read(w http.ResponseWriter, r *http.Request, id string) {
	err := CheckID(id)
	var p Payment
	if err == nil {
		p, err = h.svc.Read(r.Context(), id)
	}
	if err != nil {
		h.fail(w, r, opRead, err)
		return
	}
	wire.Reply(w, h.opts.Log, opRead, http.StatusOK, ContentType, readable{p})
}

// readable writes a payment with EncodePayment.
type readable struct{ p Payment }

// MarshalJSON implements json.Marshaler.
func (r readable) MarshalJSON() ([]byte, error) { return EncodePayment(r.p) }

func (h *handler) fail(w http.ResponseWriter, r *http.Request, op string, err error) {
	wire.WriteProblem(w, r, h.opts.Log, wire.AsError(op, err), Problems())
}
