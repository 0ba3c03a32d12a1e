package scene

import "strings"

// word is one of our own words on a screen.
type word int

// The words.
const (
	sandbox   word = iota
	expired        // in place of a code that is over
	ifScanned      // what the customer can do then
	tooSmall       // in place of a code that does not fit
	valid          // the code; a countdown may follow
	validFor       // %s is a number of seconds
	ready
	choose
	digits
	tooFew    // digits
	tooLittle // of an amount
	tooMuch
	again  // to be typed
	number // or code of who pays
	sum    // the amount
	moment // something is being asked
	starting
	scan
	confirm
	paid
	notPaid
	declined
	cancelled
	noConnection
	notReady
	notNow
	cancel // names of keys, for screens that have them
	accept
	erase
	pageBack
	pageOn
	wordCount
)

// fallback is the language of a terminal whose own is not in the table.
const fallback = "en"

// texts has each word in each language; a test finds one that is missing.
var texts = map[string]*[wordCount]string{
	"en": {
		sandbox: "SANDBOX - no real money", expired: "This code is no longer valid.", tooSmall: "This screen is too small for the code.",
		ifScanned: "If you have scanned it, please confirm in your app. If not, please ask for a new code.", moment: "One moment, please",
		valid: "valid", validFor: "valid for %s", ready: "Ready", starting: "Starting", choose: "Please choose how to pay", digits: "Digits",
		tooFew: "Too few digits", tooLittle: "Amount too small", tooMuch: "Amount too large", again: "Please type it again",
		number: "Number or code", sum: "Amount",
		scan: "Scan the code with your app", confirm: "Please confirm in your app", paid: "Paid. Thank you.", notPaid: "Not paid.",
		declined: "Declined.", cancelled: "Cancelled.", noConnection: "No connection", notReady: "Not ready", notNow: "No payment is possible now.",
		cancel: "Cancel", accept: "Confirm", erase: "Erase", pageBack: "Previous page", pageOn: "Next page",
	},
	"de": {
		sandbox: "SANDBOX - kein echtes Geld", expired: "Dieser Code ist nicht mehr gültig.", tooSmall: "Dieser Bildschirm ist zu klein für den Code.",
		ifScanned: "Schon gescannt? Bitte in der App bestätigen. Sonst bitte nach einem neuen Code fragen.", moment: "Einen Moment bitte",
		valid: "gültig", validFor: "gültig noch %s", ready: "Bereit", starting: "Startet", choose: "Bitte Zahlungsart wählen", digits: "Ziffern",
		tooFew: "Zu wenige Ziffern", tooLittle: "Betrag zu klein", tooMuch: "Betrag zu groß", again: "Bitte neu eingeben",
		number: "Nummer oder Code", sum: "Betrag",
		scan: "Code mit der App scannen", confirm: "Bitte in der App bestätigen", paid: "Bezahlt. Vielen Dank.", notPaid: "Nicht bezahlt.",
		declined: "Abgelehnt.", cancelled: "Abgebrochen.", noConnection: "Keine Verbindung", notReady: "Nicht bereit", notNow: "Zurzeit ist keine Zahlung möglich.",
		cancel: "Abbrechen", accept: "Bestätigen", erase: "Löschen", pageBack: "Vorherige Seite", pageOn: "Nächste Seite",
	},
	"fr": {
		sandbox: "SANDBOX - pas d'argent réel", expired: "Ce code n'est plus valable.", tooSmall: "Cet écran est trop petit pour le code.",
		ifScanned: "Déjà scanné ? Confirmez dans votre application. Sinon, demandez un nouveau code.", moment: "Un instant, s'il vous plaît",
		valid: "valable", validFor: "valable encore %s", ready: "Prêt", starting: "Démarrage", choose: "Choisissez le moyen de paiement", digits: "Chiffres",
		tooFew: "Trop peu de chiffres", tooLittle: "Montant trop petit", tooMuch: "Montant trop élevé", again: "Veuillez ressaisir",
		number: "Numéro ou code", sum: "Montant",
		scan: "Scannez le code avec votre application", confirm: "Confirmez dans votre application", paid: "Payé. Merci.", notPaid: "Non payé.",
		declined: "Refusé.", cancelled: "Annulé.", noConnection: "Pas de connexion", notReady: "Pas prêt", notNow: "Aucun paiement n'est possible pour le moment.",
		cancel: "Annuler", accept: "Valider", erase: "Effacer", pageBack: "Page précédente", pageOn: "Page suivante",
	},
	"it": {
		sandbox: "SANDBOX - nessun denaro reale", expired: "Questo codice non è più valido.", tooSmall: "Questo schermo è troppo piccolo per il codice.",
		ifScanned: "Già scansionato? Confermare nell'app. Altrimenti chiedere un nuovo codice.", moment: "Un momento, prego",
		valid: "valido", validFor: "valido ancora %s", ready: "Pronto", starting: "Avvio in corso", choose: "Scegliere il metodo di pagamento", digits: "Cifre",
		tooFew: "Troppo poche cifre", tooLittle: "Importo troppo basso", tooMuch: "Importo troppo alto", again: "Digitare di nuovo",
		number: "Numero o codice", sum: "Importo",
		scan: "Scansionare il codice con l'app", confirm: "Confermare nell'app", paid: "Pagato. Grazie.", notPaid: "Non pagato.",
		declined: "Rifiutato.", cancelled: "Annullato.", noConnection: "Nessuna connessione", notReady: "Non pronto", notNow: "Al momento non è possibile pagare.",
		cancel: "Annulla", accept: "Conferma", erase: "Cancella", pageBack: "Pagina precedente", pageOn: "Pagina successiva",
	},
	"nl": {
		sandbox: "SANDBOX - geen echt geld", expired: "Deze code is niet meer geldig.", tooSmall: "Dit scherm is te klein voor de code.",
		ifScanned: "Al gescand? Bevestig in uw app. Vraag anders om een nieuwe code.", moment: "Een ogenblik geduld",
		valid: "geldig", validFor: "nog %s geldig", ready: "Gereed", starting: "Start op", choose: "Kies een betaalmethode", digits: "Cijfers",
		tooFew: "Te weinig cijfers", tooLittle: "Bedrag te laag", tooMuch: "Bedrag te hoog", again: "Voer opnieuw in",
		number: "Nummer of code", sum: "Bedrag",
		scan: "Scan de code met uw app", confirm: "Bevestig in uw app", paid: "Betaald. Dank u wel.", notPaid: "Niet betaald.",
		declined: "Geweigerd.", cancelled: "Geannuleerd.", noConnection: "Geen verbinding", notReady: "Niet gereed", notNow: "Betalen is nu niet mogelijk.",
		cancel: "Annuleren", accept: "Bevestigen", erase: "Wissen", pageBack: "Vorige pagina", pageOn: "Volgende pagina",
	},
	"sv": {
		sandbox: "SANDBOX - inga riktiga pengar", expired: "Koden gäller inte längre.", tooSmall: "Skärmen är för liten för koden.",
		ifScanned: "Redan skannad? Bekräfta i din app. Be annars om en ny kod.", moment: "Ett ögonblick",
		valid: "giltig", validFor: "giltig i %s", ready: "Redo", starting: "Startar", choose: "Välj betalningssätt", digits: "Siffror",
		tooFew: "För få siffror", tooLittle: "Beloppet är för lågt", tooMuch: "Beloppet är för högt", again: "Ange igen",
		number: "Nummer eller kod", sum: "Belopp",
		scan: "Skanna koden med din app", confirm: "Bekräfta i din app", paid: "Betalt. Tack.", notPaid: "Inte betalt.",
		declined: "Nekat.", cancelled: "Avbrutet.", noConnection: "Ingen anslutning", notReady: "Inte redo", notNow: "Det går inte att betala just nu.",
		cancel: "Avbryt", accept: "Bekräfta", erase: "Radera", pageBack: "Föregående sida", pageOn: "Nästa sida",
	},
	"da": {
		sandbox: "SANDBOX - ingen rigtige penge", expired: "Koden er ikke længere gyldig.", tooSmall: "Skærmen er for lille til koden.",
		ifScanned: "Allerede scannet? Bekræft i din app. Bed ellers om en ny kode.", moment: "Et øjeblik",
		valid: "gyldig", validFor: "gyldig i %s", ready: "Klar", starting: "Starter", choose: "Vælg betalingsmetode", digits: "Cifre",
		tooFew: "For få cifre", tooLittle: "Beløbet er for lille", tooMuch: "Beløbet er for stort", again: "Indtast igen",
		number: "Nummer eller kode", sum: "Beløb",
		scan: "Scan koden med din app", confirm: "Bekræft i din app", paid: "Betalt. Tak.", notPaid: "Ikke betalt.",
		declined: "Afvist.", cancelled: "Afbrudt.", noConnection: "Ingen forbindelse", notReady: "Ikke klar", notNow: "Det er ikke muligt at betale lige nu.",
		cancel: "Annuller", accept: "Bekræft", erase: "Slet", pageBack: "Forrige side", pageOn: "Næste side",
	},
	"nb": {
		sandbox: "SANDBOX - ikke ekte penger", expired: "Koden er ikke lenger gyldig.", tooSmall: "Skjermen er for liten for koden.",
		ifScanned: "Allerede skannet? Bekreft i appen din. Be ellers om en ny kode.", moment: "Et øyeblikk",
		valid: "gyldig", validFor: "gyldig i %s", ready: "Klar", starting: "Starter", choose: "Velg betalingsmåte", digits: "Sifre",
		tooFew: "For få sifre", tooLittle: "Beløpet er for lite", tooMuch: "Beløpet er for stort", again: "Skriv inn på nytt",
		number: "Nummer eller kode", sum: "Beløp",
		scan: "Skann koden med appen din", confirm: "Bekreft i appen din", paid: "Betalt. Takk.", notPaid: "Ikke betalt.",
		declined: "Avvist.", cancelled: "Avbrutt.", noConnection: "Ingen forbindelse", notReady: "Ikke klar", notNow: "Det er ikke mulig å betale akkurat nå.",
		cancel: "Avbryt", accept: "Bekreft", erase: "Slett", pageBack: "Forrige side", pageOn: "Neste side",
	},
	"fi": {
		sandbox: "SANDBOX - ei oikeaa rahaa", expired: "Koodi ei ole enää voimassa.", tooSmall: "Näyttö on liian pieni koodille.",
		ifScanned: "Joko skannasit? Vahvista sovelluksessa. Muuten pyydä uusi koodi.", moment: "Pieni hetki",
		valid: "voimassa", validFor: "voimassa vielä %s", ready: "Valmis", starting: "Käynnistyy", choose: "Valitse maksutapa", digits: "Numeroita",
		tooFew: "Liian vähän numeroita", tooLittle: "Summa on liian pieni", tooMuch: "Summa on liian suuri", again: "Syötä uudelleen",
		number: "Numero tai koodi", sum: "Summa",
		scan: "Skannaa koodi sovelluksella", confirm: "Vahvista sovelluksessa", paid: "Maksettu. Kiitos.", notPaid: "Ei maksettu.",
		declined: "Hylätty.", cancelled: "Peruutettu.", noConnection: "Ei yhteyttä", notReady: "Ei käytössä", notNow: "Maksaminen ei ole nyt mahdollista.",
		cancel: "Peruuta", accept: "Vahvista", erase: "Poista", pageBack: "Edellinen sivu", pageOn: "Seuraava sivu",
	},
	"pl": {
		sandbox: "SANDBOX - to nie są prawdziwe pieniądze", expired: "Ten kod stracił ważność.", tooSmall: "Ten ekran jest za mały na ten kod.",
		ifScanned: "Już zeskanowany? Potwierdź w aplikacji. Jeśli nie, poproś o nowy kod.", moment: "Proszę czekać",
		valid: "ważny", validFor: "ważny jeszcze %s", ready: "Gotowy", starting: "Uruchamianie", choose: "Wybierz sposób płatności", digits: "Cyfry",
		tooFew: "Za mało cyfr", tooLittle: "Kwota za niska", tooMuch: "Kwota za wysoka", again: "Wpisz ponownie",
		number: "Numer lub kod", sum: "Kwota",
		scan: "Zeskanuj kod w aplikacji", confirm: "Potwierdź w aplikacji", paid: "Zapłacono. Dziękujemy.", notPaid: "Nie zapłacono.",
		declined: "Odrzucono.", cancelled: "Anulowano.", noConnection: "Brak połączenia", notReady: "Niegotowy", notNow: "Płatność nie jest teraz możliwa.",
		cancel: "Anuluj", accept: "Zatwierdź", erase: "Usuń", pageBack: "Poprzednia strona", pageOn: "Następna strona",
	},
}

// also are languages that read another one's words.
var also = map[string]string{"no": "nb", "nn": "nb"}

// Languages are the languages that have words of their own.
func Languages() []string {
	return []string{"de", "en", "fr", "it", "nl", "sv", "da", "nb", "fi", "pl"}
}

// Spoken is the language that the scene is worded in, one of Languages: the customer's choice, the terminal's, or English.
func (s Scene) Spoken() string {
	for _, language := range []string{s.Chosen, s.Language} {
		base, _, _ := strings.Cut(strings.ToLower(language), "-")
		if same, ok := also[base]; ok {
			base = same
		}
		if texts[base] != nil {
			return base
		}
	}
	return fallback
}

// words are those of the language that the scene is worded in.
func (s Scene) words() *[wordCount]string { return texts[s.Spoken()] }

// Keys are the names of the keys that a screen may have.
type Keys struct{ Cancel, Confirm, Correct, Up, Down string }

// Keys names them in the scene's language.
func (s Scene) Keys() Keys {
	own := s.words()
	return Keys{Cancel: own[cancel], Confirm: own[accept], Correct: own[erase], Up: own[pageBack], Down: own[pageOn]}
}
