package offlinetest

import (
	"context"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

func paymentPlans() []plan {
	return []plan{
		{"collected", true, func(_ Story, whole, part int64) []Write {
			return []Write{createPayment(whole, payments.ProcessAuthorize), capture(0, part+400), refund(0, part)}
		}},
		{"given-up", false, func(_ Story, whole, part int64) []Write {
			return []Write{createPayment(whole, payments.ProcessNone), authorization(0, part), cancellation(0)}
		}},
	}
}

const visa = "4111111111111111"

func createPayment(amount int64, processing string) Write {
	req := payments.CreateRequest{
		Type: payments.Moto, Amount: int32(amount), CurrencyCode: "EUR", Processing: processing,
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12},
	}
	return Write{"payments.create", -1, false, amount, func(ctx context.Context, s Services, key wire.Key, _ string) (string, *wire.Pending, error) {
		out, err := s.Payments.Create(ctx, key, req)
		return out.PaymentID, out.Operation, err
	}}
}

func moved(d payments.Done, err error) (string, *wire.Pending, error) {
	return d.TransactionRef, d.Operation, err
}

func authorization(about int, amount int64) Write {
	n := int32(amount)
	return Write{"payments.authorize", about, false, amount, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		return moved(s.Payments.Authorize(ctx, key, id, payments.AuthorizeRequest{Amount: &n}))
	}}
}

func capture(about int, amount int64) Write {
	n := int32(amount)
	return Write{"payments.capture", about, false, amount, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		return moved(s.Payments.Capture(ctx, key, id, payments.CaptureRequest{Amount: &n}))
	}}
}

func refund(about int, amount int64) Write {
	n := int32(amount)
	return Write{"payments.refund", about, false, amount, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		return moved(s.Payments.Refund(ctx, key, id, payments.RefundRequest{Amount: &n}))
	}}
}

func cancellation(about int) Write {
	return Write{"payments.cancel", about, false, 0, func(ctx context.Context, s Services, key wire.Key, id string) (string, *wire.Pending, error) {
		return moved(s.Payments.Cancel(ctx, key, id, payments.CancelRequest{}))
	}}
}

// bankPayments is the bank's own contract.
type bankPayments struct {
	payments.Service // what is not here is not called
	b                *Bank
}

func (p bankPayments) Create(_ context.Context, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	e, err := p.b.act(Effect{Key: key, Kind: "payments.create", Amount: int64(req.Amount)}, always)
	return payments.Created{PaymentID: e.Made}, err
}

func (p bankPayments) on(key wire.Key, kind, id string, amount int32) (payments.Done, error) {
	e, err := p.b.act(Effect{Key: key, Kind: kind, About: id, Amount: int64(amount)}, p.b.about(id, "payments.create"))
	return payments.Done{PaymentID: id, TransactionRef: e.Made}, err
}

func (p bankPayments) Authorize(_ context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	return p.on(key, "payments.authorize", id, *req.Amount)
}

func (p bankPayments) Capture(_ context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	return p.on(key, "payments.capture", id, *req.Amount)
}

func (p bankPayments) Refund(_ context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return p.on(key, "payments.refund", id, *req.Amount)
}

func (p bankPayments) Cancel(_ context.Context, key wire.Key, id string, _ payments.CancelRequest) (payments.Done, error) {
	return p.on(key, "payments.cancel", id, 0)
}

func (p bankPayments) Read(_ context.Context, id string) (payments.Payment, error) {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	for _, e := range p.b.effects {
		if e.Made == id && e.Kind == "payments.create" {
			return payments.Payment{PaymentID: id, CurrencyCode: "EUR", Summary: payments.Summary{PaymentAmount: int32(e.Amount)}}, nil
		}
	}
	return payments.Payment{}, wire.Errorf(wire.NotFound, "payments.read", "no such payment")
}
