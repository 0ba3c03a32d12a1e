package onboarding

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"posagent/schemes/wire"
)

// Prefix is the service's path, in any case of letters, with and without a slash at its end.
const Prefix = "/api/v1/onboarding/applications"

// Is says whether a request is for this service, for a router that compares paths as they are written.
func Is(r *http.Request) bool {
	_, ok := wire.FoldSegments(r, Prefix)
	return ok
}

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions struct {
	Log     *slog.Logger // gets internal errors; nil drops them
	MaxBody int64        // bytes of a request body; 0 means wire.MaxRequest
	// Sandbox performs the moves that signer and review make elsewhere, behind POST /{id}/{sign|fail|approve|reject};
	// fail may have the body {"reason":"failed|expired|cancelled"}. nil: no such routes.
	Sandbox func(ctx context.Context, key wire.Key, id int64, t Trigger, reason string) (State, error)
}

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler { return &handler{svc: svc, opts: opts} }

type handler struct {
	svc  Service
	opts HandlerOptions
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pieces, ok := wire.FoldSegments(r, Prefix)
	op, allow, status, trigger := "", http.MethodPost, http.StatusOK, Submit
	switch {
	case !ok || len(pieces) > 2:
	case len(pieces) == 0:
		op, status = opCreate, http.StatusCreated
	case len(pieces) == 1 && r.Method == http.MethodPut:
		op, allow = opUpdate, http.MethodPut
	case len(pieces) == 1:
		op, allow = opRead, http.MethodGet
	case strings.EqualFold(pieces[1], string(Submit)):
		op = opSubmit
	default:
		for _, t := range [...]Trigger{Sign, SignFail, Approve, Reject} {
			if h.opts.Sandbox != nil && strings.EqualFold(pieces[1], string(t)) {
				op, trigger = opSandbox, t
			}
		}
	}
	switch {
	case op == "":
		wire.WriteProblemNoRoute(w, r, "")
		return
	case r.Method != allow && op == opRead:
		wire.WriteProblemNoRoute(w, r, "GET, PUT")
		return
	case r.Method != allow:
		wire.WriteProblemNoRoute(w, r, allow)
		return
	}
	id, err := int64(0), error(nil)
	if len(pieces) > 0 {
		id, err = parseID(op, pieces[0])
	}
	var st State
	if err == nil {
		st, err = h.perform(r, op, id, trigger)
	}
	if err != nil {
		wire.WriteProblem(w, r, h.opts.Log, wire.AsError(op, err), Problems())
		return
	}
	wire.Reply(w, h.opts.Log, op, status, ContentType, st)
}

// perform asks the service, refusing in an order that costs a bad request the least.
func (h *handler) perform(r *http.Request, op string, id int64, t Trigger) (State, error) {
	if op == opRead {
		return h.svc.Read(r.Context(), id)
	}
	key, err := wire.KeyFrom(r.Header)
	var data []byte
	if err == nil {
		data, err = wire.ReadBody(r, h.opts.MaxBody)
	}
	whole := op == opCreate || op == opUpdate // the others need no body
	if err == nil && (whole || len(data) > 0) {
		_, err = wire.CheckJSON(r.Header.Get("Content-Type"))
	}
	if err != nil {
		return State{}, err
	}
	if whole {
		app, err := Decode(op, data)
		if err == nil {
			err = Validate(op, app)
		}
		switch {
		case err != nil:
			return State{}, err
		case op == opCreate:
			return h.svc.Create(r.Context(), key, app)
		}
		return h.svc.Update(r.Context(), key, id, app)
	}
	var ask struct {
		Reason string `json:"reason,omitempty"`
	}
	if len(data) > 0 {
		err = wire.Decode(data, &ask)
	}
	switch {
	case err != nil:
		return State{}, err
	case op == opSubmit:
		return h.svc.Submit(r.Context(), key, id)
	}
	return h.opts.Sandbox(r.Context(), key, id, t, ask.Reason)
}
