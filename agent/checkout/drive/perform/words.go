package perform

import (
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/money"
)

// words picks the text of a language; every language but German reads English.
func words(language, en, de string) string {
	if ecr.German(language) {
		return de
	}
	return en
}

// Amount is the amount as people of the terminal's language write it.
func Amount(language string, amount money.Minor, currency string) string {
	c, ok := money.Lookup(currency)
	if !ok {
		return journal.Amount(amount, currency)
	}
	return money.FormatIn(language, amount, c)
}

// publicText is the register's words for an outcome: what a cashier and a customer can use. The
// journal keeps the reason itself.
func publicText(s checkout.State, language string) string {
	pick := func(en, de string) string { return words(language, en, de) }
	if s.Used != nil {
		return usedText(*s.Used, language)
	}
	switch s.Result {
	case ecr.Approved:
		return "" // the register says so itself
	case ecr.Declined:
		switch s.Wire {
		case aapay.Rejected:
			return pick("declined by the customer or the wallet", "vom Kunden oder von der Wallet abgelehnt")
		case aapay.Cancelled:
			return pick("cancelled in the wallet", "in der Wallet abgebrochen")
		case aapay.Failed:
			return pick("failed in the wallet", "in der Wallet fehlgeschlagen")
		}
		return pick("refused", "nicht angenommen")
	case ecr.Aborted:
		if s.Text == checkout.AskedToWait {
			return pick("the payment service is overloaded: not paid, try again later", "der Zahlungsdienst ist überlastet: nicht bezahlt, bitte später")
		}
		switch s.Code {
		case ecr.AbortedByUser:
			if s.Kind != ecr.Payment {
				return pick("aborted, not done", "abgebrochen, nicht ausgeführt")
			}
			return pick("aborted, not paid", "abgebrochen, nicht bezahlt")
		case ecr.NoConnection:
			if s.Kind != ecr.Payment {
				return pick("not done, no connection", "nicht ausgeführt, keine Verbindung")
			}
			return pick("no connection", "keine Verbindung")
		default:
			return pick("not possible, not paid", "nicht möglich, nicht bezahlt")
		}
	}
	return ""
}

// usedText says that a sale's id is another's. It does not say "not paid": what had the id may have
// been.
func usedText(u checkout.Use, language string) string {
	if !u.Replaced {
		return words(language, "this id was used for another request", "diese Nummer gehört zu einem anderen Vorgang")
	}
	when, over := u.At, ""
	if at, err := time.Parse(time.RFC3339, u.At); err == nil {
		when = at.Local().Format("2006-01-02 15:04")
	}
	if c, known := money.Lookup(u.Currency); known && u.Amount != 0 {
		if n, err := money.FromHundredths(u.Amount, c); err == nil {
			over = Amount(language, n, u.Currency)
		}
	}
	text := words(language, "the journal was replaced; this id was used", "das Journal wurde ersetzt; diese Nummer wurde benutzt")
	if when != "" {
		text += words(language, " at ", " am ") + when
	}
	if over != "" {
		text += words(language, " over ", " über ") + over
	}
	return text
}
