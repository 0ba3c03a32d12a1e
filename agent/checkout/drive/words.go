package drive

import (
	"strings"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
)

// publicText is the register's words for an outcome: what a cashier and a customer can use. The journal keeps the reason itself.
func publicText(s checkout.State, language string) string {
	german := strings.HasPrefix(language, "de")
	pick := func(en, de string) string {
		if german {
			return de
		}
		return en
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
		switch s.Code {
		case ecr.AbortedByUser:
			return pick("aborted, not paid", "abgebrochen, nicht bezahlt")
		case ecr.NoConnection:
			return pick("no connection", "keine Verbindung")
		default:
			return pick("not possible, not paid", "nicht möglich, nicht bezahlt")
		}
	}
	return ""
}
