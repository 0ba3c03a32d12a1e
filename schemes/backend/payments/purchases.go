package payments

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Purchase is a card payment of which money was collected: what a cardholder can dispute.
type Purchase struct {
	ID        string // the payment's
	Reference string // acquirer reference number: 23 digits
	Card      string // keyed name of the card, see CardName
	Masked    string
	Brand     string
	Amount    money.Minor // collected
	Left      money.Minor // of it, not given back
	Currency  string
	AtMS      int64
	Owner     string // the merchant it belongs to, "" = none
}

// Search is what purchases are looked for by; zero values say nothing. All that is given must agree.
type Search struct {
	ID        string   // the payment's, or that of an operation on it
	Reference string   // acquirer's, the payment's id, or the merchant's own
	PAN       wire.PAN // the card
	Day       string   // UTC, 2006-01-02
	Amount    money.Minor
	Currency  string
}

const day = "2006-01-02"

// named says that the reference is the id of a payment, or of an operation on one.
func (s *Search) named() bool { return s.ID == "" && len(s.Reference) == 32 }

// CardName names a card without telling its number: 16 hex digits of its keyed hash.
func (c *Cards) CardName(pan wire.PAN) string {
	return hex.EncodeToString(c.DB.MAC("cards_card", "pan", pan.Reveal()))[:16]
}

// Purchases finds purchases, the oldest first. It looks at one payment where an id says which, otherwise at those of one day.
func (c *Cards) Purchases(r store.Reader, s Search) ([]Purchase, error) {
	acquirers := arnDay(s.Reference, c.Now()) != "" // then it is no merchant's own reference, whatever one may have chosen
	ids, err := candidates(r, s, c.Now())
	if err != nil {
		return nil, fmt.Errorf("find purchases: %w", err)
	}
	var list []Purchase
	for _, id := range ids {
		p, err := find(r, "cards.purchases", id)
		if wire.CodeOf(err) == wire.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if p.Means == nil || p.Means.Card == "" {
			continue
		}
		l, err := ledger(r, id)
		if err != nil {
			return nil, err
		}
		one := Purchase{
			ID: id, Reference: arn(id, p.created), Card: p.Means.Card[:16], Masked: p.Means.Masked, Brand: p.Means.Method,
			Amount: l.Committed, Left: l.Committed - l.Returned - l.Returning, Currency: p.Currency, AtMS: p.created,
		}
		switch {
		case l.Committed <= 0,
			acquirers && s.Reference != one.Reference,
			s.Reference != "" && !acquirers && !s.named() && s.Reference != id && s.Reference != p.Reference && s.Reference != p.Number,
			!s.PAN.IsZero() && c.CardName(s.PAN) != one.Card,
			s.Day != "" && s.Day != time.UnixMilli(p.created).UTC().Format(day),
			s.Amount != 0 && s.Amount != one.Amount,
			s.Currency != "" && s.Currency != one.Currency:
			continue
		}
		if one.Owner, err = room.Owner(r, paymentResource, id); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// candidates are the ids of the payments that have to be looked at, the oldest first.
func candidates(r store.Reader, s Search, now time.Time) ([]string, error) {
	id := s.ID
	if s.named() {
		id = s.Reference
	}
	if id != "" {
		return store.Column[string](r, `SELECT id FROM cards_payment WHERE id = ? UNION SELECT payment FROM cards_op WHERE ref = ?`, id, id)
	}
	from := s.Day
	if from == "" {
		from = arnDay(s.Reference, now)
	}
	begin, err := time.Parse(day, from)
	if err != nil {
		return nil, nil // nothing says when
	}
	return store.Column[string](r, `SELECT id FROM cards_payment WHERE created_ms >= ? AND created_ms < ? ORDER BY created_ms, id`,
		begin.UnixMilli(), begin.AddDate(0, 0, 1).UnixMilli())
}

const acquirer = "7400001" // kind of reference, and the bank's number

// arn is a payment's acquirer reference number: the acquirer, the day as yddd, eleven digits of the id, a check digit.
func arn(id string, createdMS int64) string {
	at := time.UnixMilli(createdMS).UTC()
	sum := sha256.Sum256([]byte(id))
	s := acquirer + strconv.Itoa(at.Year()%10) + fmt.Sprintf("%03d%011d", at.YearDay(), binary.BigEndian.Uint64(sum[:])%1e11)
	return s + strconv.Itoa(checkDigit(s))
}

// arnDay is the last day such a number can be of, "" for no number of ours.
func arnDay(s string, now time.Time) string {
	rest, ok := strings.CutPrefix(s, acquirer)
	if !ok || len(s) != 23 || strings.Trim(s, "0123456789") != "" || strconv.Itoa(checkDigit(s[:22])) != s[22:] {
		return ""
	}
	now = now.UTC()
	year := now.Year() - (now.Year()%10-int(rest[0]-'0')+10)%10
	n, err := strconv.Atoi(rest[1:4])
	if err != nil {
		return ""
	}
	return time.Date(year, 1, n, 0, 0, 0, 0, time.UTC).Format(day)
}

// checkDigit is that of ISO/IEC 7812-1.
func checkDigit(s string) int {
	sum := 0
	for i := range len(s) {
		d := int(s[len(s)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return (10 - sum%10) % 10
}
