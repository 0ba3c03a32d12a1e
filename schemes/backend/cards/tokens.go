package cards

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// token is a tokenization as stored: the columns, and the exported fields as JSON.
type token struct {
	id     string
	sealed []byte
	fresh  bool // verified just now, for the first time

	Means     *means `json:"means,omitempty"`  // nil: no card was given yet
	Secret    string `json:"secret,omitempty"` // keyed hash of the tokenSecret
	Recurring string `json:"recurring,omitempty"`
	Limit     int32  `json:"limit,omitempty"`
	Currency  string `json:"currency,omitempty"`
	Until     string `json:"until,omitempty"`
	Days      int32  `json:"days,omitempty"`
	Last      int64  `json:"last,omitempty"` // the last recurring payment
	Verified  bool   `json:"verified,omitempty"`
	Order     string `json:"order,omitempty"`
}

const tokenTable = "cards_token"

// Tokens is the tokenization service of the bank.
type Tokens struct{ c *Cards }

var _ tokens.Service = Tokens{}

// Tokens gives the tokenization service.
func (c *Cards) Tokens() Tokens { return Tokens{c} }

func (c *Cards) secret(id string, s wire.Secret) string {
	if s == "" {
		return ""
	}
	return hex.EncodeToString(c.DB.MAC(tokenTable, "secret", id, s.Reveal()))
}

// insert gives t its id and a fresh token.
func (t *token) insert(tx store.Tx, c *Cards, secret wire.Secret, now int64) error {
	t.id = newID()
	t.Secret = c.secret(t.id, secret)
	text := rand.Text()
	data, err := json.Marshal(t)
	if err == nil {
		t.sealed, err = c.DB.Seal(tx, store.Cell{Table: tokenTable, Key: t.id, Column: "token"}, []byte(text))
	}
	if err == nil {
		_, err = tx.Exec(`INSERT INTO cards_token (id, mac, token, created_ms, data) VALUES (?, ?, ?, ?, ?)`,
			t.id, c.DB.MAC(tokenTable, "token", text), t.sealed, now, string(data))
	}
	if err != nil {
		return fmt.Errorf("store token: %w", err)
	}
	return nil
}

// row is that of its card in the table of test cards, "" without one.
func (t *token) row() string {
	if t.Means == nil {
		return ""
	}
	return t.Means.Row
}

func (t *token) save(tx store.Tx) error {
	data, err := json.Marshal(t)
	if err == nil {
		_, err = tx.Exec(`UPDATE cards_token SET data = ? WHERE id = ?`, string(data), t.id)
	}
	if err != nil {
		return fmt.Errorf("store token %s: %w", t.id, err)
	}
	return nil
}

func scanToken(row *sql.Row) (*token, error) {
	var t token
	var data string
	err := row.Scan(&t.id, &t.sealed, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, wire.Errorf(wire.NotFound, "", "no such tokenization")
	}
	if err == nil {
		err = json.Unmarshal([]byte(data), &t)
	}
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	return &t, nil
}

func findToken(r store.Reader, id string) (*token, error) {
	return scanToken(r.QueryRow(`SELECT id, token, data FROM cards_token WHERE id = ?`, id))
}

func (c *Cards) reveal(r store.Reader, t *token) (wire.Secret, error) {
	text, err := c.DB.Unseal(r, store.Cell{Table: tokenTable, Key: t.id, Column: "token"}, t.sealed)
	return wire.Secret(text), err
}

// payWith finds the means behind a token. An unknown token and a wrong secret are the same answer.
func (c *Cards) payWith(tx store.Tx, p *payment, d *payments.PaymentMethodDetails, now int64) (*token, error) {
	t, err := scanToken(tx.QueryRow(`SELECT id, token, data FROM cards_token WHERE mac = ?`, c.DB.MAC(tokenTable, "token", d.Token.Reveal())))
	if wire.CodeOf(err) == wire.NotFound {
		return nil, refused(opCreate, payments.InvalidToken)
	}
	switch {
	case err != nil:
		return nil, err
	case t.Secret != "" && !hmac.Equal([]byte(t.Secret), []byte(c.secret(t.id, d.TokenSecret))):
		return nil, refused(opCreate, payments.InvalidToken)
	case t.Means == nil:
		return nil, refused(opCreate, payments.PaymentDetailsMissing)
	case past(t.Means.Year, t.Means.Month, now):
		return nil, refused(opCreate, payments.CardExpired)
	}
	m := *t.Means
	m.Token = t.id
	p.Means = &m
	if d.IsRecurring || d.Type == payments.MerchantInitiated {
		p.Subscribed = t.id
	}
	return t, nil
}

// terms holds a payment against the arrangement behind a token: "" or the reason against it.
func (t *token) terms(p *payment, d *payments.PaymentMethodDetails, now int64) string {
	recurring := d.Type == payments.WithToken && d.IsRecurring
	switch {
	case t.Recurring == "" && recurring && d.RecurringType != payments.CardOnFile,
		t.Recurring != "" && t.Recurring != anyUse && d.RecurringType != "" && d.RecurringType != t.Recurring,
		t.Recurring == payments.Subscription && !recurring,
		t.Currency != "" && t.Currency != p.Currency,
		t.Limit != 0 && p.Amount > t.Limit:
		return payments.InvalidSubscription
	case t.Until != "" && time.UnixMilli(now).UTC().Format(time.DateOnly) > t.Until:
		return payments.ExpiredSubscription
	case recurring && t.Last != 0 && now < t.Last+int64(t.Days)*24*time.Hour.Milliseconds():
		return payments.ExpiredSubscription
	}
	return ""
}

// anyUse stands for the recurring type of a token that was made without naming one, with terms for recurring payments.
const anyUse = "any"

// keepToken makes the token an initial tokenization asks for, once the card is known.
func (c *Cards) keepToken(tx store.Tx, p *payment, now int64) error {
	if p.Details != payments.InitialToken || p.Means.PayType != card || p.Means.Token != "" {
		return nil
	}
	m := *p.Means
	t := &token{Means: &m, Recurring: anyUse, Until: p.Until, Days: p.Days, Verified: true, Currency: p.Currency, Last: now}
	if err := t.insert(tx, c, "", now); err != nil {
		return err
	}
	p.Means.Token, p.Subscribed = t.id, t.id
	return nil
}

const opToken = "tokens.create"

// Create implements tokens.Service.
func (s Tokens) Create(ctx context.Context, key wire.Key, req tokens.CreateRequest) (out tokens.Created, err error) {
	if err := check.Request(opToken, req); err != nil {
		return out, err
	}
	bound := req
	if req.CardDetails != nil {
		d := *req.CardDetails
		d.ValidationCode = ""
		bound.CardDetails = &d
	}
	body, err := wire.Encode(bound)
	if err != nil {
		return out, &wire.Error{Code: wire.Invalid, Op: opToken, Msg: "request cannot be stored"}
	}
	err = s.write(ctx, room.Keyed{Op: opToken, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (*token, error) {
		t := &token{Order: req.OrderDescription}
		if d := req.CardDetails; d != nil {
			var err error
			if t.Means, err = s.c.tokenCard(tx, opToken, d.PAN, d.ExpiryYear, d.ExpiryMonth, now); err != nil {
				return nil, err
			}
		}
		return t, t.insert(tx, s.c, req.TokenSecret, now)
	})
	return out, err
}

// tokenCard is cardMeans with the reasons of the tokenization service.
func (c *Cards) tokenCard(tx store.Tx, op string, pan wire.PAN, year, month int32, now int64) (*means, error) {
	m, _, err := c.cardMeans(tx, op, pan, year, month, now)
	var e *wire.Error
	if errors.As(err, &e) && e.Code == wire.Conflict {
		return nil, tokens.Refused(op, e.Reason, e.Msg) // both services call them CardExpired and CardNotAccepted
	}
	return m, err
}

// write plays a keyed write that answers with a tokenization's id.
func (s Tokens) write(ctx context.Context, k room.Keyed, out *tokens.Created, act func(tx store.Tx, now int64) (*token, error)) error {
	return s.c.Once(ctx, k, out, func(tx store.Tx, now int64) (scenario.Do, error) {
		t, err := act(tx, now)
		if err != nil {
			return "", err
		}
		out.TokenizationID = t.id
		if do := scenario.CardDo(t.row(), 0); t.fresh && do.Spoils() {
			return do, nil
		}
		return "", nil
	})
}

// CreateRecurring implements tokens.Service.
func (s Tokens) CreateRecurring(ctx context.Context, key wire.Key, req tokens.RecurringRequest) (out tokens.Created, err error) {
	const op = "tokens.recurring"
	if err := check.Request(op, req); err != nil {
		return out, err
	}
	body, err := wire.Encode(req)
	if err != nil {
		return out, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be stored"}
	}
	err = s.write(ctx, room.Keyed{Op: op, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (*token, error) {
		if req.RecurringExpiryDate != "" && req.RecurringExpiryDate < time.UnixMilli(now).UTC().Format(time.DateOnly) {
			return nil, tokens.Refused(op, tokens.ArrangementExpired, "recurringExpiryDate is past")
		}
		t := &token{
			Recurring: req.RecurringType, Limit: req.Amount, Currency: req.CurrencyCode, Until: req.RecurringExpiryDate, Days: req.RecurringFrequency,
			Order: req.OrderDescription,
		}
		if t.Recurring == "" {
			t.Recurring = tokens.Subscription
		}
		return t, t.insert(tx, s.c, req.TokenSecret, now)
	})
	return out, err
}

// Verify implements tokens.Service. A tokenization without a card gets the sandbox's first test card from its simulated
// customer.
func (s Tokens) Verify(ctx context.Context, key wire.Key, id string) (out tokens.Created, err error) {
	const op = "tokens.verify"
	if err := tokens.CheckID(id); err != nil {
		return out, err
	}
	err = s.write(ctx, room.Keyed{Op: op, About: id, Key: key}, &out, func(tx store.Tx, now int64) (*token, error) {
		t, err := findToken(tx, id)
		if err != nil {
			return nil, err
		}
		if t.Means == nil {
			year := int32(time.UnixMilli(now).UTC().Year() + 3)
			if t.Means, err = s.c.tokenCard(tx, op, wire.NewPAN(scenario.Cards()[0].PAN), year, 12, now); err != nil {
				return nil, err
			}
		}
		switch do := scenario.CardDo(t.Means.Row, 0); {
		case do == scenario.OldCard, past(t.Means.Year, t.Means.Month, now):
			return nil, tokens.Refused(op, tokens.CardExpired, "card expired")
		case do == scenario.HardDecline, do == scenario.ReserveFails:
			return nil, tokens.Refused(op, tokens.CardNotAccepted, "refused by the card's bank")
		}
		t.fresh, t.Verified = !t.Verified, true
		return t, t.save(tx)
	})
	return out, err
}

// Token implements tokens.Service.
func (s Tokens) Token(ctx context.Context, id string) (out tokens.TokenReply, err error) {
	const op = "tokens.token"
	if err := tokens.CheckID(id); err != nil {
		return out, err
	}
	err = s.c.DB.Read(ctx, func(r store.Reader) error {
		t, err := findToken(r, id)
		switch {
		case err != nil:
			return err
		case t.Means == nil:
			return tokens.Refused(op, tokens.CardMissing, "no card yet")
		case past(t.Means.Year, t.Means.Month, s.c.Now().UnixMilli()):
			return tokens.Refused(op, tokens.CardExpired, "card expired")
		}
		out.Token, err = s.c.reveal(r, t)
		return err
	})
	if err != nil {
		return tokens.TokenReply{}, wire.AsError(op, err)
	}
	return out, nil
}

// payable says whether money moves in a currency.
func payable(code string) bool {
	cur, ok := money.Lookup(code)
	return ok && cur.Payable()
}
