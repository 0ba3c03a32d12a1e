package zvt

import "posagent/ecr"

// words are the few words that only a register of this protocol is told; those of a receipt are
// package receipt's.
type words struct {
	diagnosis, connection, works, fails, currency, number, zero, tip, reserve, config, charset, profile string
}

func wordsFor(language string) words {
	if ecr.German(language) {
		return words{"Diagnose", "Verbindung", "in Ordnung", "gestört", "diese Währung wird nicht angenommen",
			"Vorgangsnummer (1F73) nicht vereinbart: 1F73 03 000000 in 06 00 senden",
			"Betrag 0: den Betrag senden, oder keinen für alles",
			"keine Zahlart nimmt Trinkgeld nach der Zahlung: den ganzen Betrag mit 06 01 verlangen",
			"keine Zahlart kann vorautorisieren: den Betrag mit 06 01 verlangen, zurück mit 06 30",
			"Config", "Zeichensatz", "Profil"}
	}
	return words{"Diagnosis", "Connection", "works", "fails", "this currency is not accepted",
		"number (1F73) not agreed: send 1F73 03 000000 in 06 00",
		"amount 0: send the amount, or none for all of it",
		"no payment method takes a tip after the payment: ask for the whole amount with 06 01",
		"no payment method can pre-authorise: ask for the amount with 06 01, give it back with 06 30",
		"Config", "Charset", "Profile"}
}
