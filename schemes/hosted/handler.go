package hosted

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	"posagent/schemes/wire"
)

// Prefix is where a Client calls; the handler knows the other ways to write it.
const Prefix = "/api/v1/api"

// KeyHeader carries the merchant's key.
const KeyHeader = "X-API-KEY"

// prefixes of every route, the longer first.
var prefixes = [...]string{"/api/phoenix-0.0/psp/api/v1/", "/psp/api/v1/", Prefix + "/", "/api/v1/"}

// route finds what a path asks for; ok is false for a foreign path.
func route(r *http.Request) (pieces []string, ok bool) {
	for _, p := range prefixes {
		if list, found := wire.Segments(r, p); found {
			switch list[0] {
			case "orders", "build", "operations", "payment_methods":
				return list, true
			}
		}
	}
	return nil, false
}

// Is says whether a request is for this service.
func Is(r *http.Request) bool {
	_, ok := route(r)
	return ok
}

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions struct {
	Log     *slog.Logger // gets internal errors; nil drops them
	MaxBody int64        // bytes of a request body; 0 means wire.MaxRequest
}

// Handler serves the two halves of the service. Authentication, Host checks and time limits are the caller's.
func Handler(sessions Sessions, orders Orders, opts HandlerOptions) http.Handler {
	return &handler{sessions, orders, opts}
}

type handler struct {
	sessions Sessions
	orders   Orders
	opts     HandlerOptions
}

// call is one request, read.
type call struct {
	*handler
	ctx  context.Context
	op   string
	key  wire.Key
	id   string // of the path or query
	data []byte
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pieces, ok := route(r)
	c := call{handler: h, ctx: r.Context()}
	method, do := "", (func(*call) (any, error))(nil)
	if ok {
		method, do = c.pick(pieces, r)
	}
	switch {
	case do == nil:
		writeNoRoute(w, "")
	case r.Method != method:
		writeNoRoute(w, method)
	default:
		err := c.read(r)
		var body any
		if err == nil {
			body, err = do(&c)
		}
		if err != nil {
			WriteError(w, h.opts.Log, wire.AsError(c.op, err))
			return
		}
		wire.Reply(w, h.opts.Log, c.op, http.StatusOK, ContentType, body)
	}
}

// pick finds what a route does.
func (c *call) pick(pieces []string, r *http.Request) (method string, do func(*call) (any, error)) {
	first, last := pieces[0], pieces[len(pieces)-1]
	session := func(op string, do func(*call) (any, error)) (string, func(*call) (any, error)) {
		c.op, c.id = op, r.URL.Query().Get("sessionId")
		return http.MethodGet, do
	}
	switch {
	case len(pieces) == 1 && first == "payment_methods":
		c.op = opMethods
		return http.MethodGet, (*call).methods
	case len(pieces) == 2 && first == "orders" && last == "build":
		c.op = opBuild
		return http.MethodPost, (*call).build
	case len(pieces) == 2 && first == "orders":
		c.op, c.id = opOrder, last
		return http.MethodGet, (*call).order
	case len(pieces) == 2 && first == "build":
		switch last {
		case "finalize_payment", "confirm_payment":
			c.op = opFinalize
			return http.MethodPost, (*call).finalize
		case "cancel":
			c.op = opEnd
			return http.MethodPost, (*call).end
		case "state":
			return session(opState, (*call).state)
		case "cardData":
			return session(opCard, (*call).card)
		}
	case len(pieces) == 3 && first == "operations":
		c.id = pieces[1]
		switch last {
		case "captures":
			c.op = opCapture
			return http.MethodPost, c.post(c.orders.Capture)
		case "refunds":
			c.op = opRefund
			return http.MethodPost, c.post(c.orders.Refund)
		case "cancels":
			c.op = opUndo
			return http.MethodPost, c.post(c.orders.Cancel)
		}
	}
	return "", nil
}

// read checks the headers and reads the body, refusing in an order that costs a bad request the least.
func (c *call) read(r *http.Request) error {
	if !correlated(r.Header.Values(CorrelationHeader)) {
		return &wire.Error{Code: wire.Invalid, Reason: BadParameter, Op: c.op, Msg: CorrelationHeader + ": want one, of the shape of a UUID"}
	}
	if r.Method == http.MethodGet {
		return nil
	}
	key, err := wire.KeyFrom(r.Header)
	if err != nil {
		return &wire.Error{Code: wire.Invalid, Reason: BadKey, Op: c.op, Err: err}
	}
	c.key = key
	if _, err = wire.CheckJSON(r.Header.Get("Content-Type")); err == nil {
		c.data, err = wire.ReadBody(r, c.opts.MaxBody)
	}
	return err
}

func (c *call) build() (any, error) {
	req, err := DecodeBuild(c.data)
	if err == nil {
		err = req.Validate()
	}
	if err != nil {
		return nil, err
	}
	b, err := c.sessions.Build(c.ctx, c.key, req)
	return encoded(EncodeBuilt, b, err)
}

// sessionCall is the body of finalize, confirm and cancel.
type sessionCall struct {
	SessionID string `json:"sessionId"`
	Amount    Text   `json:"amount,omitempty"` // confirm_payment only
}

func (c *call) session() (s sessionCall, err error) {
	if err = decode(c.op, c.data, &s, "sessionId"); err == nil {
		err = checkID(c.op, "sessionId", s.SessionID)
	}
	if n, ok := s.Amount.Minor(); err == nil && s.Amount != "" && (!ok || n == 0) {
		err = &wire.Error{Code: wire.Invalid, Reason: AmountNotNumeric, Op: c.op, Msg: "amount: want a whole number of smallest units, 1 to 2147483647"}
	}
	return s, err
}

func (c *call) finalize() (any, error) {
	s, err := c.session()
	if err != nil {
		return nil, err
	}
	out, err := c.sessions.Finalize(c.ctx, c.key, s.SessionID, s.Amount)
	return encoded(EncodeState, warned(out), err)
}

func (c *call) end() (any, error) {
	s, err := c.session()
	if err != nil {
		return nil, err
	}
	out, err := c.sessions.Cancel(c.ctx, c.key, s.SessionID)
	return encoded(EncodeState, warned(out), err)
}

// warned is an answer with its list of warnings, which finalize and cancel always have (S2 4).
func warned(s SessionState) SessionState {
	if s.Warnings == nil {
		s.Warnings = []Warning{}
	}
	return s
}

func (c *call) state() (any, error) {
	if err := checkID(c.op, "sessionId", c.id); err != nil {
		return nil, err
	}
	out, err := c.sessions.State(c.ctx, c.id)
	return encoded(EncodeState, out, err)
}

func (c *call) card() (any, error) {
	if err := checkID(c.op, "sessionId", c.id); err != nil {
		return nil, err
	}
	return c.sessions.Card(c.ctx, c.id)
}

func (c *call) methods() (any, error) {
	list, err := c.orders.Methods(c.ctx)
	if list.PaymentMethods == nil {
		list.PaymentMethods = []Method{}
	}
	return list, err
}

func (c *call) order() (any, error) {
	if err := checkID(c.op, "orderId", c.id); err != nil {
		return nil, err
	}
	r, err := c.orders.Order(c.ctx, c.id)
	return r.whole(), err
}

func (c *call) post(do func(context.Context, wire.Key, string, PostRequest) (Posted, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		var req PostRequest
		err := needKey(c.op, c.key)
		if err == nil {
			err = checkID(c.op, "operationId", c.id)
		}
		if text := strings.TrimSpace(string(c.data)); err == nil && text != "" && text != "[]" { // an empty object, as PHP writes it
			err = decode(c.op, c.data, &req)
		}
		if err == nil {
			err = req.Validate(c.op)
		}
		if err != nil {
			return nil, err
		}
		req.Description = wire.MaskPANs(req.Description)
		return do(c.ctx, c.key, c.id, req)
	}
}

// encoded writes a success that holds a secret.
func encoded[T any](encode func(T) ([]byte, error), v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	data, err := encode(v)
	return json.RawMessage(data), err
}
