package zvt

import "posagent/ecr"

// words are the few words of a receipt.
type words struct {
	payment, refund, reversal, customer, merchant, copy            string
	terminal, receipt, trace, original, transaction                string
	approved, refunded, reversed, declined, aborted, running       string
	endOfDay, turnover, total, count, payments, refunds, diagnosis string
	connection, works, fails, currency, number                     string
}

func wordsFor(language string) words {
	if ecr.German(language) {
		return words{"Zahlung", "Gutschrift", "Storno", "Kundenbeleg", "Händlerbeleg", "KOPIE",
			"Terminal", "Beleg", "Trace", "Original-Trace", "Transaktion",
			"Zahlung erfolgt", "Gutschrift erfolgt", "Storno erfolgt", "Abgelehnt", "Abgebrochen", "In Bearbeitung",
			"Kassenschnitt", "Zwischensumme", "Summe", "Anzahl", "Zahlungen", "Gutschriften", "Diagnose",
			"Verbindung", "in Ordnung", "gestört", "diese Währung wird nicht angenommen",
			"Vorgangsnummer (1F73) nicht vereinbart: 1F73 03 000000 in 06 00 senden"}
	}
	return words{"Payment", "Refund", "Reversal", "Customer receipt", "Merchant receipt", "COPY",
		"Terminal", "Receipt", "Trace", "Original trace", "Transaction",
		"Approved", "Refunded", "Reversed", "Declined", "Aborted", "In progress",
		"End of day", "Turnover", "Total", "Count", "Payments", "Refunds", "Diagnosis",
		"Connection", "works", "fails", "this currency is not accepted",
		"number (1F73) not agreed: send 1F73 03 000000 in 06 00"}
}
