package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

const (
	opBuild    = "hosted.build"
	opFinalize = "hosted.finalize"
	opCancel   = "hosted.cancel"
	opState    = "hosted.state"
	opCard     = "hosted.card"
	opField    = "hosted.field"
)

// kept is what of an order is sealed.
type kept struct {
	Customer *hosted.CustomerInfo `json:"customer,omitempty"`
}

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

func badParameter(op, path, why string) error {
	return &wire.Error{Code: wire.Invalid, Reason: hosted.BadParameter, Op: op, Msg: path + ": " + why}
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
		hook := deliver.Hook{Event: noticeEvent, URL: in.NotificationURL, Fill: wire.Secret(token)}
		if err := x.opt.Deliver.Register(tx, subject(s.id), []deliver.Hook{hook}); err != nil {
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

// payable returns whether a session of an order may still be paid.
func payable(r store.Reader, order string, now int64) (open bool, err error) {
	var n int64
	if err := r.QueryRow(`SELECT COUNT(*) FROM sessions_session WHERE next_ms > ? AND order_id = ?`, now, order).Scan(&n); err != nil {
		return false, fmt.Errorf("read sessions: %w", err)
	}
	return n > 0, nil
}

// token reads a session's token.
func (x *Sessions) token(r store.Reader, s *session) (wire.Secret, error) {
	plain, err := x.DB.Unseal(r, sessionCell(s.id), s.private)
	return wire.Secret(plain), err
}

// customer reads what is known of an order's customer, nil = nothing.
func (x *Sessions) customer(r store.Reader, o *order) (*hosted.CustomerInfo, error) {
	var k kept
	plain, err := x.DB.Unseal(r, orderCell(o.id), o.private)
	if err == nil {
		err = json.Unmarshal(plain, &k)
	}
	return k.Customer, err
}

// agree judges the recurrence of a new session.
func (s *session) agree(tx store.Tx, now int64) error {
	r := s.Recurrence
	c, err := findContract(tx, r.ContractID)
	refused := hosted.Refused(opBuild, hosted.BadContract)
	today := time.UnixMilli(now).UTC().Format(time.DateOnly)
	switch {
	case err != nil:
		return err
	case r.Action == hosted.ContractCreation:
		if c != nil || r.ContractExpiryDate != "" && r.ContractExpiryDate[:10] < today {
			return refused
		}
		return nil
	case c == nil, c.Expiry != "" && c.Expiry[:10] < today:
		return refused
	case r.Action == hosted.CardSubstitution:
		return nil
	case r.ContractType != "" && r.ContractType != c.Type,
		c.Type == hosted.Scheduled && now < c.LastMS+c.Days*24*int64(time.Hour/time.Millisecond):
		return refused
	}
	s.Card, s.Merchant, s.state = &c.Card, c.Type != hosted.CIT, Ready
	return nil
}

// fields are those the platform has to show now.
func (x *Sessions) fields(s *session) []hosted.Field {
	list := []hosted.Field{}
	add := func(kind, class, id string) {
		list = append(list, hosted.Field{Type: kind, Class: class, ID: id, Src: x.Public + FieldPrefix + s.id + "/" + id})
	}
	switch {
	case s.state == Choosing:
		add("ACTION", "CARD", payWithCard)
		for _, o := range others() {
			add("ACTION", "APM", o)
		}
	case s.state == Collecting, s.state == Ready && s.Recurrence == nil, s.state == Ready && s.Recurrence.Action != hosted.SubsequentPayment:
		for _, id := range cardFields() {
			add("TEXT", "CARD_FIELD", id)
		}
	}
	return list
}

// show is a session's state for its merchant.
func (x *Sessions) show(r store.Reader, s *session) (hosted.SessionState, error) {
	out := hosted.SessionState{State: string(s.state)}
	if s.state == Away {
		out.URL = x.away(s)
	}
	if s.Operation != "" {
		o, err := findOperation(r, opState, s.Operation)
		if err != nil {
			return out, err
		}
		shown, err := x.operation(r, o)
		if err != nil {
			return out, err
		}
		out.Operation = &shown
	}
	if list := x.fields(s); len(list) > 0 && s.state != Ready {
		token, err := x.token(r, s)
		if err != nil {
			return out, err
		}
		out.FieldSet = &hosted.FieldSet{SessionID: s.id, SecurityToken: token, Fields: list}
	}
	return out, nil
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

// others are the alternative methods.
func others() []string { return []string{"PAYPAL", "KLARNA", "MYBANK"} }

// circuits are the card schemes, as the real service names them, and as the table of test cards does.
func circuits() [][2]string {
	return [][2]string{{"VISA", "Visa"}, {"MC", "MasterCard"}, {"MAESTRO", "Maestro"}, {"AMEX", "AmericanExpress"}, {"DINERS", "DinersClubInternational"}, {"JCB", "JCB"}}
}

// serviceOf reads paymentService: a card scheme is the card's service. known is false for one that is not there.
func serviceOf(s string) (service string, known bool) {
	s = strings.ToUpper(s)
	if s == "" || s == hosted.CardService {
		return s, true
	}
	for _, c := range circuits() {
		if c[0] == s {
			return hosted.CardService, true
		}
	}
	for _, o := range others() {
		if o == s {
			return s, true
		}
	}
	return "", false
}
