package hosted

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// Build implements hosted.Sessions.
func (x *Sessions) Build(ctx context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
	if err := req.Validate(); err != nil {
		return hosted.Built{}, err
	}
	var made struct{ ID string }
	err := x.write(ctx, opBuild, "", key, req, &made, func(tx store.Tx, now int64) (scenario.Do, error) {
		s, err := x.build(tx, req, now)
		if err == nil {
			made.ID = s.id
		}
		return "", err
	})
	if err != nil {
		return hosted.Built{}, err
	}
	var out hosted.Built
	err = x.DB.Read(ctx, func(r store.Reader) error {
		s, err := findSession(r, opBuild, made.ID)
		if err != nil {
			return err
		}
		token, err := x.token(r, s)
		out = hosted.Built{SessionID: s.id, SecurityToken: token, Fields: x.fields(s)}
		if s.Other != "" && s.Operation != "" {
			out.State, out.URL = hosted.Redirected, x.away(s)
		}
		return err
	})
	return out, err
}

// origin is the scheme and host of an address that wire.WebURL accepted.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.ContainsAny(u.Host, " ;,'\"") {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

func (x *Sessions) build(tx store.Tx, req hosted.BuildRequest, now int64) (*session, error) {
	in := req.PaymentSession
	s := &session{
		id: room.Name(16), order: req.Order.OrderID, created: now, ends: now + x.opt.Life.Milliseconds(), state: Choosing, Action: in.ActionType, Origin: origin(req.MerchantURL),
		Explicit: in.CaptureType == hosted.Explicit || in.CaptureType == "" && in.ActionType == hosted.Preauth,
		Result:   in.ResultURL, Cancel: in.CancelURL, Notify: in.NotificationURL != "", Language: in.Language, Ask: in.Exemptions == hosted.ChallengeRequested,
	}
	s.Amount, _ = in.Amount.Minor()
	customer, err := req.Order.Customer()
	if err != nil {
		return nil, err
	}
	if s.Origin == "" {
		return nil, &wire.Error{Code: wire.Invalid, Reason: hosted.BadMerchantURL, Op: opBuild, Msg: "merchantUrl: not an origin of pages"}
	}
	if in.NotificationURL != "" {
		if err := x.opt.Deliver.Check(in.NotificationURL); err != nil {
			return nil, badParameter(opBuild, "paymentSession.notificationUrl", err.Error())
		}
	}
	if r := in.Recurrence; r != nil && r.Action != "" && r.Action != hosted.NoRecurring {
		s.Recurrence = r // before the order is stored: a refusal is committed with whatever was done until then
		if err := s.agree(tx, now); err != nil {
			return nil, err
		}
	}
	if err := x.order(tx, req.Order, customer, now); err != nil {
		return nil, err
	}
	service, known := serviceOf(in.PaymentService)
	switch {
	case !known:
		return nil, badParameter(opBuild, "paymentSession.paymentService", "no such service")
	case s.state == Ready: // with a contract's card
	case service == hosted.CardService:
		s.state, _ = next(s.state, evCard)
	case service != "":
		if err := x.leaveFor(tx, s, service, now); err != nil {
			return nil, err
		}
	}
	token := room.Name(16)
	if s.private, err = x.DB.Seal(tx, sessionCell(s.id), []byte(token)); err != nil {
		return nil, err
	}
	if s.Notify {
		hook := webhooks.Hook{Event: noticeEvent, URL: in.NotificationURL, Fill: wire.Secret(token)}
		if err := x.opt.Deliver.Register(tx, subject(s.id), []webhooks.Hook{hook}); err != nil {
			return nil, err
		}
	}
	return s, saveSession(tx, s)
}

// order makes an order, or takes what a later build says of it.
func (x *Sessions) order(tx store.Tx, in hosted.Order, customer *hosted.CustomerInfo, now int64) error {
	o, err := findOrder(tx, opBuild, in.OrderID)
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		if err := mayName(tx, in.OrderID); err != nil {
			return err
		}
		o = &order{id: in.OrderID, created: now, currency: in.Currency}
	case err != nil:
		return err
	case o.payment != "":
		return hosted.Refused(opBuild, hosted.OrderPaid)
	case o.currency != in.Currency:
		return hosted.Refused(opBuild, hosted.OrderDiffers)
	case o.Order.Amount != in.Amount: // what a customer agreed to must not change while it may still be paid
		open, err := payable(tx, o.id, now)
		if err == nil && open {
			err = hosted.Refused(opBuild, hosted.OrderDiffers)
		}
		if err != nil {
			return err
		}
	}
	o.Order = in
	o.Order.CustomerInfo = nil
	text, err := json.Marshal(kept{customer})
	if err == nil {
		o.private, err = x.DB.Seal(tx, orderCell(o.id), text)
	}
	if err != nil {
		return fmt.Errorf("seal customer: %w", err)
	}
	return saveOrder(tx, o)
}

// mayName makes a new order the caller's. The id of another merchant's is taken.
func mayName(tx store.Tx, id string) error {
	var n int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM sessions_order WHERE id = ?`, id).Scan(&n); err != nil {
		return fmt.Errorf("look for an order: %w", err)
	}
	if n > 0 {
		return hosted.Refused(opBuild, hosted.OrderDiffers)
	}
	return room.Claim(tx, orderResource, id)
}

// payable returns whether a session of an order may still be paid.
func payable(r store.Reader, order string, now int64) (open bool, err error) {
	var n int64
	if err := r.QueryRow(`SELECT COUNT(*) FROM sessions_session WHERE next_ms > ? AND order_id = ?`, now, order).Scan(&n); err != nil {
		return false, fmt.Errorf("read sessions: %w", err)
	}
	return n > 0, nil
}

// State implements hosted.Sessions.
func (x *Sessions) State(ctx context.Context, id string) (out hosted.SessionState, err error) {
	err = x.look(ctx, opState, id, func(tx store.Tx, s *session) error {
		out, err = x.show(tx, s)
		return err
	})
	return out, err
}

// Card implements hosted.Sessions.
func (x *Sessions) Card(ctx context.Context, id string) (out hosted.CardData, err error) {
	err = x.look(ctx, opCard, id, func(_ store.Tx, s *session) error {
		if s.Card == nil || s.Card.Circuit == "" || s.Card.Month == 0 {
			return hosted.Refused(opCard, hosted.SessionNotReady)
		}
		c := s.Card
		out = hosted.CardData{BIN: c.BIN, LastFourDigits: c.Last, ExpiringDate: fmt.Sprintf("%02d/%02d", c.Month, c.Year%100), Circuit: c.Circuit}
		return nil
	})
	return out, err
}

// look reads a live session. That its time is over is stored, also where it is the answer.
func (x *Sessions) look(ctx context.Context, op, id string, do func(store.Tx, *session) error) error {
	var refusal error
	err := x.DB.Write(ctx, func(tx store.Tx) error {
		refusal = nil
		s, err := x.live(tx, op, id, x.Now().UnixMilli())
		if err == nil {
			err = do(tx, s)
		}
		if wire.CodeOf(err) == wire.Conflict {
			refusal, err = err, nil
		}
		return err
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return wire.AsError(op, err)
	}
	return nil
}
