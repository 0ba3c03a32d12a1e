package backend_test

import (
	"context"
	"sync"

	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/wire"
)

// shopping is both halves of hosted build.
type shopping struct {
	sessions hosted.Sessions
	orders   hosted.Orders
}

// wrongSessions errs where it has a function, and is next everywhere else. It writes out every method: a new one must not pass by.
type wrongSessions struct {
	next     hosted.Sessions
	build    func(ctx context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error)
	finalize func(ctx context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error)
	cancel   func(ctx context.Context, key wire.Key, id string) (hosted.SessionState, error)
}

var _ hosted.Sessions = wrongSessions{}

func (w wrongSessions) Build(ctx context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
	if w.build == nil {
		return w.next.Build(ctx, key, req)
	}
	return w.build(ctx, key, req)
}

func (w wrongSessions) Finalize(ctx context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error) {
	if w.finalize == nil {
		return w.next.Finalize(ctx, key, id, amount)
	}
	return w.finalize(ctx, key, id, amount)
}

func (w wrongSessions) Cancel(ctx context.Context, key wire.Key, id string) (hosted.SessionState, error) {
	if w.cancel == nil {
		return w.next.Cancel(ctx, key, id)
	}
	return w.cancel(ctx, key, id)
}

func (w wrongSessions) State(ctx context.Context, id string) (hosted.SessionState, error) {
	return w.next.State(ctx, id)
}

func (w wrongSessions) Card(ctx context.Context, id string) (hosted.CardData, error) {
	return w.next.Card(ctx, id)
}

// wrongOrders errs in what it makes of captures, refunds and cancels, and in what it reads. It writes out every method.
type wrongOrders struct {
	next hosted.Orders
	post func(key wire.Key, send func(wire.Key) (hosted.Posted, error)) (hosted.Posted, error)
	read func(*hosted.Report)
}

var _ hosted.Orders = wrongOrders{}

func (w wrongOrders) Methods(ctx context.Context) (hosted.MethodList, error) {
	return w.next.Methods(ctx)
}

func (w wrongOrders) posted(key wire.Key, send func(wire.Key) (hosted.Posted, error)) (hosted.Posted, error) {
	if w.post == nil {
		return send(key)
	}
	return w.post(key, send)
}

func (w wrongOrders) Capture(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return w.posted(key, func(key wire.Key) (hosted.Posted, error) { return w.next.Capture(ctx, key, id, req) })
}

func (w wrongOrders) Refund(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return w.posted(key, func(key wire.Key) (hosted.Posted, error) { return w.next.Refund(ctx, key, id, req) })
}

func (w wrongOrders) Cancel(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return w.posted(key, func(key wire.Key) (hosted.Posted, error) { return w.next.Cancel(ctx, key, id, req) })
}

func (w wrongOrders) Order(ctx context.Context, id string) (hosted.Report, error) {
	out, err := w.next.Order(ctx, id)
	if w.read != nil && err == nil {
		w.read(&out)
	}
	return out, err
}

type hostedBug = func(shopping) shopping

// posts answers a capture, refund or cancel that is refused for the reason as if it were done.
func posts(reason string) hostedBug {
	return func(s shopping) shopping {
		s.orders = wrongOrders{next: s.orders, post: func(key wire.Key, send func(wire.Key) (hosted.Posted, error)) (hosted.Posted, error) {
			out, err := send(key)
			if wire.ReasonOf(err) == reason {
				return hosted.Posted{OperationID: string(wire.NewKey()), OperationTime: "2026-11-22T10:00:00.000Z"}, nil
			}
			return out, err
		}}
		return s
	}
}

// finalizes answers a finalize that is refused for the reason as if it had paid.
func finalizes(reason string) hostedBug {
	return finalized(func(_ string, out hosted.SessionState, err error) (hosted.SessionState, error) {
		if wire.ReasonOf(err) == reason {
			return hosted.SessionState{State: hosted.Complete, Operation: &hosted.Operation{OperationID: string(wire.NewKey())}}, nil
		}
		return out, err
	})
}

// finalized changes what a finalize of a session is answered with.
func finalized(change func(id string, out hosted.SessionState, err error) (hosted.SessionState, error)) hostedBug {
	return func(s shopping) shopping {
		next := s.sessions
		s.sessions = wrongSessions{next: next, finalize: func(ctx context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error) {
			out, err := next.Finalize(ctx, key, id, amount)
			return change(id, out, err)
		}}
		return s
	}
}

// built changes what a build asks for, and what it is answered with.
func built(ask func(*hosted.BuildRequest), answer func(*hosted.Built)) hostedBug {
	return func(s shopping) shopping {
		next := s.sessions
		s.sessions = wrongSessions{next: next, build: func(ctx context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
			ask(&req)
			out, err := next.Build(ctx, key, req)
			answer(&out)
			return out, err
		}}
		return s
	}
}

// paysTwice pays again what is paid.
func paysTwice() hostedBug {
	var paid sync.Map // sessions
	return finalized(func(id string, out hosted.SessionState, err error) (hosted.SessionState, error) {
		if err != nil || out.State != hosted.Complete {
			return out, err
		}
		if _, again := paid.LoadOrStore(id, true); again {
			op := *out.Operation
			op.OperationID = string(wire.NewKey())
			out.Operation = &op
		}
		return out, nil
	})
}

// forgetsHostedKeys performs every keyed write anew.
func forgetsHostedKeys(s shopping) shopping {
	next := s.sessions
	return shopping{
		wrongSessions{next: next,
			build: func(ctx context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
				return next.Build(ctx, fresh(key), req)
			},
			finalize: func(ctx context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error) {
				return next.Finalize(ctx, fresh(key), id, amount)
			},
			cancel: func(ctx context.Context, key wire.Key, id string) (hosted.SessionState, error) {
				return next.Cancel(ctx, fresh(key), id)
			},
		},
		wrongOrders{next: s.orders, post: func(key wire.Key, send func(wire.Key) (hosted.Posted, error)) (hosted.Posted, error) {
			return send(fresh(key))
		}},
	}
}

// takesAnotherBody answers a key that comes with another body as it was answered first.
func takesAnotherBody(s shopping) shopping {
	var built, posted sync.Map // answers, by key
	next := s.sessions
	return shopping{
		wrongSessions{next: next, build: func(ctx context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
			out, err := next.Build(ctx, key, req)
			if first, ok := built.LoadOrStore(key, out); ok && wire.CodeOf(err) == wire.KeyReused {
				return first.(hosted.Built), nil
			}
			return out, err
		}},
		wrongOrders{next: s.orders, post: func(key wire.Key, send func(wire.Key) (hosted.Posted, error)) (hosted.Posted, error) {
			out, err := send(key)
			if first, ok := posted.LoadOrStore(key, out); ok && wire.CodeOf(err) == wire.KeyReused {
				return first.(hosted.Posted), nil
			}
			return out, err
		}},
	}
}

// hostedBugs are the mistakes that the suite of hosted build must find.
func hostedBugs() map[string]hostedBug {
	sessions := func(wrong func(next hosted.Sessions) wrongSessions) hostedBug {
		return func(s shopping) shopping {
			s.sessions = wrong(s.sessions)
			return s
		}
	}
	return map[string]hostedBug{
		"": func(s shopping) shopping {
			return shopping{wrongSessions{next: s.sessions}, wrongOrders{next: s.orders}}
		},
		"pays twice":                  paysTwice(),
		"pays an order twice":         finalizes(hosted.OrderPaid),
		"forgets keys":                forgetsHostedKeys,
		"takes another body":          takesAnotherBody,
		"refunds more":                posts(hosted.RefundAboveCaptured),
		"captures more":               posts(hosted.ExecutedNoCapture),
		"captures what is void":       posts(hosted.VoidedNoCapture),
		"finalizes what is not ready": finalizes(hosted.SessionNotReady),
		"goes on after a cancel": sessions(func(next hosted.Sessions) wrongSessions {
			return wrongSessions{next: next, cancel: func(ctx context.Context, _ wire.Key, id string) (hosted.SessionState, error) {
				s, err := next.State(ctx, id)
				if err != nil || s.State == hosted.Complete {
					return next.Cancel(ctx, "", id)
				}
				return hosted.SessionState{State: hosted.Complete}, nil
			}}
		}),
		"calls a decline paid": finalized(func(_ string, out hosted.SessionState, err error) (hosted.SessionState, error) {
			if err == nil && out.Operation != nil && out.Operation.OperationResult == hosted.Declined {
				op := *out.Operation
				op.OperationResult = hosted.Executed
				out.Operation = &op
			}
			return out, err
		}),
		"has one token for all": built(func(*hosted.BuildRequest) {}, func(b *hosted.Built) { b.SecurityToken = "token" }),
		"loses operations": func(s shopping) shopping {
			s.orders = wrongOrders{next: s.orders, read: func(r *hosted.Report) { r.Operations = nil }}
			return s
		},
		"charges when authorizing": built(func(req *hosted.BuildRequest) {
			req.PaymentSession.CaptureType = ""
			if req.PaymentSession.ActionType == hosted.Preauth {
				req.PaymentSession.ActionType = hosted.Pay
			}
		}, func(*hosted.Built) {}),
		"ignores the confirmed amount": sessions(func(next hosted.Sessions) wrongSessions {
			all, _ := hostedtest.Good().Order.Amount.Minor()
			return wrongSessions{next: next, finalize: func(ctx context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error) {
				if n, _ := amount.Minor(); n <= all {
					amount = ""
				}
				return next.Finalize(ctx, key, id, amount)
			}}
		}),
	}
}
