package drive

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/store"
)

// refusal is an ecr.Refusal that remembers what its text was made of.
type refusal struct {
	*ecr.Refusal
	format string
	args   []any
}

func (r refusal) Unwrap() error { return r.Refusal }

// refuse returns an ecr.Refusal with its text in English; inLanguage puts it into the terminal's
// language.
func refuse(code ecr.Code, format string, args ...any) error {
	return refusal{&ecr.Refusal{Code: code, Text: fmt.Sprintf(format, args...)}, format, args}
}

// unsaid is the refusal of a register that asks for what this journal does not have and a lost one
// may have made; nil = no journal was lost.
func unsaid(r store.Reader) error {
	l, ok, err := store.LostIn(r)
	if err != nil || !ok {
		return err
	}
	return refuse(ecr.SystemError, "the journal was replaced on %s: compare the backend's portal", time.UnixMilli(l.AtMS).UTC().Format(time.DateOnly))
}

// byNumber lets a bare receipt or trace number name a payment, in a journal that took another's
// place, only where the amount agrees and the other journal cannot have given that number. lost says
// whether it can.
func byNumber(r store.Reader, req ecr.Request, row *journal.Row, err error, lost func(journal.Lost) bool) (*journal.Row, error) {
	none := errors.Is(err, journal.ErrUnknown)
	if err != nil && !none && !errors.Is(err, journal.ErrQuarantined) {
		return row, err
	}
	numbers, fault := journal.LostNumbers(r)
	switch {
	case fault != nil:
		return row, fault
	case !numbers.Any():
		return row, err
	case none, lost(numbers), req.Amount != row.Amount:
		return row, cmp.Or(ambiguous(r), err)
	}
	return row, err
}

// ambiguous is the refusal of a bare number that may be another payment's; nil = no journal was lost.
func ambiguous(r store.Reader) error {
	l, ok, err := store.LostIn(r)
	if err != nil || !ok {
		return err
	}
	return refuse(ecr.Replaced, "the journal was replaced on %s: ask with R<batch>/<receipt> or T<transaction>", time.UnixMilli(l.AtMS).UTC().Format(time.DateOnly))
}

// inLanguage returns err, a refusal with its text in the terminal's language.
func (d *Drive) inLanguage(err error) error {
	var r refusal
	if !errors.As(err, &r) {
		return err
	}
	text := r.format
	if ecr.German(d.cfg.Language) {
		text = german[r.format]
	}
	if text == "" { // a text of another room
		return r.Refusal
	}
	if strings.Contains(text, "%") {
		text = fmt.Sprintf(text, r.args...)
	}
	return &ecr.Refusal{Code: r.Code, Text: text}
}

// german has the text of every refusal; a text without a verb leaves its arguments out.
var german = map[string]string{
	"already reversed":                                               "bereits storniert",
	"a payment needs an amount":                                      "eine Zahlung braucht einen Betrag",
	"a refund needs an amount":                                       "eine Gutschrift braucht einen Betrag",
	"amount out of range":                                            "Betrag nicht erlaubt",
	"more than is left of the original: %s":                          "mehr als von der Zahlung übrig ist: %s",
	"no payment method starts without an amount":                     "keine Zahlart beginnt ohne Betrag",
	"order lines out of range":                                       "Positionen nicht erlaubt",
	"the amount cannot be sent":                                      "der Betrag kann nicht gesendet werden",
	"the backend takes whole hundredths only":                        "nur ganze Hundertstel sind möglich",
	"the order lines come to %s":                                     "die Positionen ergeben %s",
	"the original had another amount":                                "die Zahlung hatte einen anderen Betrag",
	"%s is running":                                                  "ein anderer Vorgang läuft",
	"%s":                                                             "%s", // in the terminal's language already, or what is open
	"end of day is running":                                          "Kassenschnitt läuft",
	"the terminal restarts":                                          "Terminal startet neu",
	"the operator has not confirmed this terminal yet":               "der Betreiber hat dieses Terminal noch nicht bestätigt",
	"this box is not the terminal any more":                          "dieses Gerät ist nicht mehr das Terminal",
	"unknown kind of sale":                                           "unbekannter Vorgang",
	"%s asks for %q first: a keypad is needed":                       "%s fragt zuerst nach %q: dazu braucht es eine Tastatur",
	"the payment method %.40q is not offered here":                   "die Zahlart %.40q gibt es hier nicht",
	"the customer's code does not fit: %s takes %d to %d characters": "der Code des Kunden passt nicht: %s nimmt %d bis %d Zeichen",
	"no payment method takes the customer's code":                    "keine Zahlart nimmt den Code des Kunden",
	"several payment methods take the customer's code: name one":     "mehrere Zahlarten nehmen den Code des Kunden: bitte eine nennen",
	"the last payment is another one":                                "die letzte Zahlung ist eine andere",
	"no payment method fits":                                         "keine passende Zahlart",
	"this merchant has no payment method":                            "dieser Händler hat keine Zahlart",
	"starting":                                                       "startet",
	"stopping":                                                       "wird beendet",
	"the payment methods are not known yet":                          "die Zahlarten sind noch nicht bekannt",
	"%q names no original":                                           "%q nennt keine Zahlung",
	"%q names no receipt: R<receipt> or R<batch>/<receipt>":          "%q nennt keinen Beleg: R<Beleg> oder R<Abschluss>/<Beleg>",
	"%q names no transaction":                                        "%q nennt keine Transaktion",
	"T%d names two payments: name the receipt":                       "T%d nennt zwei Zahlungen: bitte den Beleg nennen",
	"only payments can be taken back":                                "nur Zahlungen können zurückgenommen werden",
	"refunded in part":                                               "teilweise gutgeschrieben",
	"%s gives back the whole amount only":                            "%s gibt nur den ganzen Betrag zurück",
	"the method cannot give money back":                              "die Zahlart kann nichts zurückgeben",
	"the original is not an acknowledged payment":                    "das Original ist keine bestätigte Zahlung",
	"the journal was replaced on %s: compare the backend's portal":   "das Journal wurde am %s ersetzt: bitte im Portal der Bank nachsehen",
	"the journal was replaced on %s: ask with R<batch>/<receipt> or T<transaction>":    "das Journal wurde am %s ersetzt: bitte R<Abschluss>/<Beleg> oder T<Transaktion> nennen",
	"this terminal has not sold %s: the one that has sold it must give the money back": "%s ist nicht von diesem Terminal: zurückgeben muss das Terminal, das verkauft hat",
	"receipt %d is of the closed day %d: refund it, as R%d/%d":                         "Beleg %d ist vom abgeschlossenen Tag %d: bitte als Gutschrift zu R%d/%d",
	"a person must look at this sale first: posagent sale show %s":                     "diesen Vorgang muss erst ein Mensch ansehen: posagent sale show %s",
	"this register has sold nothing":                                                   "diese Kasse hat nichts verkauft",
	"no receipt number is left: end of day needed":                                     "keine Belegnummer mehr frei: bitte Kassenschnitt",
	"the journal was removed or replaced":                                              "das Journal wurde entfernt oder ersetzt",
	"the journal cannot be written":                                                    "das Journal kann nicht geschrieben werden",
	"request id %s was used for another request":                                       "Vorgangsnummer %s schon für anderes benutzt",
	"the request cannot be sent":                                                       "die Anfrage kann nicht gesendet werden",
	"older sales are being resumed":                                                    "ältere Vorgänge werden fortgesetzt",
	"%s cannot be paid with":                                                           "%s wird nicht angenommen",
	"the original was in %s":                                                           "die Zahlung war in %s",
	"this terminal takes %s":                                                           "dieses Terminal nimmt %s",
	"the same refund or reversal was begun under another id: ask for that one":         "dieselbe Gutschrift oder dasselbe Storno läuft unter einer anderen Nummer: bitte danach fragen",
	"the original was paid at %s, before the provider changed: give it back there":     "die Zahlung lief über %s, vor dem Wechsel des Anbieters: bitte dort zurückgeben",
}
