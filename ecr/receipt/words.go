package receipt

import (
	"strings"

	"posagent/ecr"
)

// Words are the few words of a receipt.
type Words struct {
	Payment, Refund, Reversal, Customer, Merchant, Copy      string
	Terminal, Receipt, Trace, Original, Transaction          string
	Approved, Refunded, Reversed, Declined, Aborted, Running string
	EndOfDay, Turnover, Total, Count, Payments, Refunds      string
	Batch, CutOff, Payer, Loyalty                            string
	AllRegisters                                             string // an end of day is the terminal's
}

// WordsFor returns the words of a language: German, Polish, or else English ones.
func WordsFor(language string) Words {
	if ecr.German(language) {
		return Words{"Zahlung", "Gutschrift", "Storno", "Kundenbeleg", "Händlerbeleg", "KOPIE",
			"Terminal", "Beleg", "Trace", "Original-Trace", "Transaktion",
			"Zahlung erfolgt", "Gutschrift erfolgt", "Storno erfolgt", "Abgelehnt", "Abgebrochen", "In Bearbeitung",
			"Kassenschnitt", "Zwischensumme", "Summe", "Anzahl", "Zahlungen", "Gutschriften",
			"Abschluss", "UNVOLLSTÄNDIG - UNGÜLTIG", "Bezahlt von", "Kundenkarte", "Alle Kassen dieses Terminals"}
	}
	if lang, _, _ := strings.Cut(language, "-"); lang == "pl" {
		return Words{"Płatność", "Zwrot", "Anulowanie", "Odcinek dla klienta", "Odcinek dla sprzedawcy", "KOPIA",
			"Terminal", "Paragon", "Trace", "Trace oryginału", "Transakcja",
			"Zapłacono", "Zwrócono", "Anulowano", "Odmowa", "Przerwano", "W toku",
			"Zamknięcie dnia", "Suma bieżąca", "Razem", "Liczba", "Płatności", "Zwroty",
			"Zamknięcie", "NIEPEŁNY - NIEWAŻNY", "Płacący", "Karta klienta", "Wszystkie kasy tego terminala"}
	}
	return Words{"Payment", "Refund", "Reversal", "Customer receipt", "Merchant receipt", "COPY",
		"Terminal", "Receipt", "Trace", "Original trace", "Transaction",
		"Approved", "Refunded", "Reversed", "Declined", "Aborted", "In progress",
		"End of day", "Turnover", "Total", "Count", "Payments", "Refunds",
		"Batch", "INCOMPLETE - NOT VALID", "Paid by", "Loyalty card", "All registers of this terminal"}
}
