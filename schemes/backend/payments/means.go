package payments

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"posagent/schemes/backend/scenario"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// card is the payment type of cards.
const card = webhooks.TypeCard

// invoice is the one method of the page that payments.Methods does not name.
const invoice = "Invoice"

const (
	sepa   = "PproSepaDirectDebit"
	sofort = "Sofortbanking"
	wallet = "PayPal"
)

// past says that a card is no longer good: its last day is the last of its month.
func past(year, month int32, nowMS int64) bool {
	now := time.UnixMilli(nowMS).UTC()
	return int(year)*12+int(month) < now.Year()*12+int(now.Month())
}

// cardMeans takes a card in: only those of the table, with a date that is not past. The number goes into the vault.
func (c *Cards) cardMeans(tx store.Tx, op string, pan wire.PAN, year, month int32, now int64) (*means, scenario.Card, error) {
	row, ok := scenario.CardOf(pan.Reveal())
	switch {
	case !ok:
		return nil, row, payments.Refused(op, payments.CardNotAccepted, "not a test card; see: posagent backend cards")
	case past(year, month, now):
		return nil, row, refused(op, payments.CardExpired)
	}
	mac, err := c.keep(tx, pan, now)
	return &means{Method: row.Brand, PayType: card, Row: row.Name, Card: mac, Masked: pan.Masked(), Year: year, Month: month}, row, err
}

// keep puts a number into the vault, once, and gives its keyed hash.
func (c *Cards) keep(tx store.Tx, pan wire.PAN, now int64) (string, error) {
	const table = "cards_card"
	mac := hex.EncodeToString(c.DB.MAC(table, "pan", pan.Reveal()))
	var n int64
	err := tx.QueryRow(`SELECT COUNT(*) FROM cards_card WHERE mac = ?`, mac).Scan(&n)
	if err != nil || n > 0 {
		return mac, err
	}
	sealed, err := c.DB.Seal(tx, store.Cell{Table: table, Key: mac, Column: "pan"}, []byte(pan.Reveal()))
	if err == nil {
		_, err = tx.Exec(`INSERT INTO cards_card (mac, masked, pan, created_ms) VALUES (?, ?, ?, ?)`, mac, pan.Masked(), sealed, now)
	}
	if err != nil {
		return "", fmt.Errorf("store card: %w", err)
	}
	return mac, nil
}

func maskIBAN(s string) string { return s[:2] + strings.Repeat("*", len(s)-6) + s[len(s)-4:] }
