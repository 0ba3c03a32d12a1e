package payments

import (
	"crypto/hmac"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
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

func (c *Cards) secret(id string, s wire.Secret) string {
	if s == "" {
		return ""
	}
	return hex.EncodeToString(c.DB.MAC(tokenTable, "secret", id, s.Reveal()))
}

// insert gives t its id and a fresh token, and the caller's merchant as its owner.
func (t *token) insert(tx store.Tx, c *Cards, secret wire.Secret, now int64) error {
	return t.insertFor(tx, c, secret, room.By(tx).Merchant, now)
}

func (t *token) insertFor(tx store.Tx, c *Cards, secret wire.Secret, owner string, now int64) error {
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
	return room.Give(tx, tokenTable, t.id, owner)
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

// findToken reads a token of the caller, or wire.NotFound.
func findToken(r store.Reader, id string) (*token, error) {
	if err := room.Reaches(r, "", tokenTable, id); err != nil {
		return nil, err
	}
	return scanToken(r.QueryRow(`SELECT id, token, data FROM cards_token WHERE id = ?`, id))
}

func (c *Cards) reveal(r store.Reader, t *token) (wire.Secret, error) {
	text, err := c.DB.Unseal(r, store.Cell{Table: tokenTable, Key: t.id, Column: "token"}, t.sealed)
	return wire.Secret(text), err
}

// payWith finds the means behind a token. An unknown token and a wrong secret are the same answer.
func (c *Cards) payWith(tx store.Tx, p *payment, d *payments.PaymentMethodDetails, now int64) (*token, error) {
	t, err := scanToken(tx.QueryRow(`SELECT id, token, data FROM cards_token WHERE mac = ?`, c.DB.MAC(tokenTable, "token", d.Token.Reveal())))
	if err == nil {
		err = room.Reaches(tx, opCreate, tokenTable, t.id)
	}
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
	case t.over(now):
		return payments.ExpiredSubscription
	case recurring && t.Last != 0 && now < t.Last+int64(t.Days)*24*time.Hour.Milliseconds():
		return payments.ExpiredSubscription
	}
	return ""
}

// over says that the last day of the arrangement has passed.
func (t *token) over(now int64) bool {
	return t.Until != "" && time.UnixMilli(now).UTC().Format(time.DateOnly) > t.Until
}

// agreed says whether the arrangement that a payment was made with is still there when its money is to be held, which may be long after:
// "" or the reason against it. A payment that makes one is its customer's own.
func (p *payment) agreed(r store.Reader, now int64) (reason string, err error) {
	if p.Means == nil || p.Means.Token == "" || p.Details == payments.InitialToken {
		return "", nil
	}
	t, err := findToken(r, p.Means.Token)
	if err == nil && t.over(now) {
		reason = payments.ExpiredSubscription
	}
	return reason, err
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
	owner, err := room.Owner(tx, paymentResource, p.id) // a customer on the page is no merchant
	if err == nil && owner == "" {
		owner = room.By(tx).Merchant // the payment is stored after its token
	}
	if err == nil {
		err = t.insertFor(tx, c, "", owner, now)
	}
	if err != nil {
		return err
	}
	p.Means.Token, p.Subscribed = t.id, t.id
	return nil
}
