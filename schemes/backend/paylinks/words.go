package paylinks

import "strings"

// languages are those of the page and of custom field names (S1 2.1), in the order of the columns of words.
var languages = [...]string{"en", "de", "fr", "it"}

// names are the languages' own names.
var names = [len(languages)]string{"English", "Deutsch", "Français", "Italiano"}

// word names a text of the page.
type word int

const (
	wPayTo word = iota
	wVAT
	wSubscription
	wReserve
	wAuthorize
	wContact
	wMandatory
	wCard
	wCardNumber
	wExpiry
	wCode
	wTestOnly
	wPay
	wOther
	wDecline
	wProve
	wApprove
	wRefuse
	wPaid
	wReturned
	wHeld
	wProcessing
	wDeclined
	wExpired
	wGone
	wStale
	wLate
	wAgain
	wTrouble
	wCheck
	wMissing
	wBad
	wBadCard
	wContinue
	wStop
	wStopped
	wFiles
	wTitle
	wForename
	wSurname
	wCompany
	wStreet
	wPostcode
	wPlace
	wCountry
	wPhone
	wEmail
	wBirth
	wTerms
	wPrivacy
	wTermsLink
	wTermsText
	wPrivacyLink
	wPrivacyText
	wordCount
)

// words are the texts of the page, one row per word.
var words = [wordCount][len(languages)]string{
	wPayTo:        {"Pay to", "Zahlung an", "Payer à", "Pagare a"},
	wVAT:          {"including VAT", "inklusive MwSt.", "TVA comprise", "IVA inclusa"},
	wSubscription: {"Charged again every", "Wird wieder belastet alle", "Débité à nouveau chaque", "Addebitato di nuovo ogni"},
	wReserve:      {"The amount is reserved and charged later.", "Der Betrag wird reserviert und später belastet.", "Le montant est réservé et débité plus tard.", "L'importo viene riservato e addebitato più tardi."},
	wAuthorize:    {"You allow a later charge.", "Sie erlauben eine spätere Belastung.", "Vous autorisez un débit ultérieur.", "Autorizza un addebito successivo."},
	wContact:      {"Your details", "Ihre Angaben", "Vos coordonnées", "I suoi dati"},
	wMandatory:    {"required", "Pflichtfeld", "obligatoire", "obbligatorio"},
	wCard:         {"Card", "Karte", "Carte", "Carta"},
	wCardNumber:   {"Card number", "Kartennummer", "Numéro de carte", "Numero della carta"},
	wExpiry:       {"Expiry (MM/YY)", "Gültig bis (MM/JJ)", "Expiration (MM/AA)", "Scadenza (MM/AA)"},
	wCode:         {"Security code", "Prüfziffer", "Code de sécurité", "Codice di sicurezza"},
	wTestOnly:     {"Only test cards are accepted.", "Nur Testkarten werden akzeptiert.", "Seules les cartes de test sont acceptées.", "Solo le carte di prova sono accettate."},
	wPay:          {"Pay", "Bezahlen", "Payer", "Paga"},
	wOther:        {"Pay by", "Bezahlen mit", "Payer avec", "Paga con"},
	wDecline:      {"Decline", "Ablehnen", "Refuser", "Rifiuta"},
	wProve:        {"Your bank asks: is it you who pays?", "Ihre Bank fragt: Sind Sie es, der bezahlt?", "Votre banque demande : est-ce bien vous qui payez ?", "La sua banca chiede: è lei a pagare?"},
	wApprove:      {"Yes, it is me", "Ja, ich bin es", "Oui, c'est moi", "Sì, sono io"},
	wRefuse:       {"No, stop", "Nein, aufhören", "Non, arrêter", "No, interrompi"},
	wPaid:         {"This link has been paid. Thank you.", "Dieser Link ist bezahlt. Vielen Dank.", "Ce lien a été payé. Merci.", "Questo link è stato pagato. Grazie."},
	wReturned:     {"The money went back to you.", "Sie haben Ihr Geld zurück.", "L'argent vous a été rendu.", "Il denaro le è stato restituito."},
	wHeld:         {"Done. The amount will be charged later.", "Erledigt. Der Betrag wird später belastet.", "Terminé. Le montant sera débité plus tard.", "Fatto. L'importo sarà addebitato più tardi."},
	wProcessing:   {"Your payment is being processed.", "Ihre Zahlung wird verarbeitet.", "Votre paiement est en cours.", "Il pagamento è in corso."},
	wDeclined:     {"Declined. Nothing was paid.", "Abgelehnt. Es wurde nichts bezahlt.", "Refusé. Rien n'a été payé.", "Rifiutato. Non è stato pagato nulla."},
	wExpired:      {"This link has expired. Nothing was paid.", "Dieser Link ist abgelaufen. Es wurde nichts bezahlt.", "Ce lien a expiré. Rien n'a été payé.", "Questo link è scaduto. Non è stato pagato nulla."},
	wGone:         {"There is no such link.", "Diesen Link gibt es nicht.", "Ce lien n'existe pas.", "Questo link non esiste."},
	wStale:        {"This form is not valid any more. Open the link again.", "Dieses Formular gilt nicht mehr. Öffnen Sie den Link erneut.", "Ce formulaire n'est plus valable. Ouvrez le lien à nouveau.", "Questo modulo non è più valido. Apra di nuovo il link."},
	wLate:         {"This link can no longer be changed.", "Dieser Link lässt sich nicht mehr ändern.", "Ce lien ne peut plus être modifié.", "Questo link non può più essere modificato."},
	wAgain:        {"Open the link", "Link öffnen", "Ouvrir le lien", "Apri il link"},
	wTrouble:      {"Something went wrong. Please try again.", "Etwas ging schief. Bitte versuchen Sie es erneut.", "Une erreur est survenue. Veuillez réessayer.", "Qualcosa è andato storto. Riprovi."},
	wCheck:        {"Please check:", "Bitte prüfen:", "Veuillez vérifier :", "Controlli:"},
	wMissing:      {"is missing", "fehlt", "manque", "manca"},
	wBad:          {"is not valid", "ist nicht gültig", "n'est pas valable", "non è valido"},
	wBadCard:      {"is not a test card", "ist keine Testkarte", "n'est pas une carte de test", "non è una carta di prova"},
	wContinue:     {"Continue", "Weiter", "Continuer", "Continua"},
	wStop:         {"Cancel the subscription", "Abo kündigen", "Résilier l'abonnement", "Disdire l'abbonamento"},
	wStopped:      {"The subscription has ended.", "Das Abo ist beendet.", "L'abonnement est terminé.", "L'abbonamento è terminato."},
	wFiles:        {"Attachments", "Anhänge", "Pièces jointes", "Allegati"},
	wTitle:        {"Title", "Anrede", "Titre", "Titolo"},
	wForename:     {"First name", "Vorname", "Prénom", "Nome"},
	wSurname:      {"Last name", "Nachname", "Nom", "Cognome"},
	wCompany:      {"Company", "Firma", "Société", "Azienda"},
	wStreet:       {"Street", "Strasse", "Rue", "Via"},
	wPostcode:     {"Postcode", "PLZ", "Code postal", "CAP"},
	wPlace:        {"Place", "Ort", "Lieu", "Luogo"},
	wCountry:      {"Country", "Land", "Pays", "Paese"},
	wPhone:        {"Phone", "Telefon", "Téléphone", "Telefono"},
	wEmail:        {"E-mail", "E-Mail", "E-mail", "E-mail"},
	wBirth:        {"Date of birth", "Geburtsdatum", "Date de naissance", "Data di nascita"},
	wTerms:        {"I accept the terms and conditions", "Ich akzeptiere die AGB", "J'accepte les conditions générales", "Accetto le condizioni generali"},
	wPrivacy:      {"I accept the privacy policy", "Ich akzeptiere die Datenschutzerklärung", "J'accepte la politique de confidentialité", "Accetto l'informativa sulla privacy"},
	wTermsLink:    {"Terms and conditions", "Allgemeine Geschäftsbedingungen", "Conditions générales", "Condizioni generali"},
	wTermsText: {"This is a sandbox: nothing is sold and no money moves. A shop's own terms stand here.",
		"Dies ist eine Testumgebung: Es wird nichts verkauft, und es fliesst kein Geld. Hier stehen die AGB eines Geschäfts.",
		"Ceci est un environnement de test : rien n'est vendu et aucun argent ne circule. Les conditions d'un commerce figurent ici.",
		"Questo è un ambiente di prova: non si vende nulla e non si muove denaro. Qui stanno le condizioni di un negozio."},
	wPrivacyLink: {"Privacy policy", "Datenschutzerklärung", "Politique de confidentialité", "Informativa sulla privacy"},
	wPrivacyText: {"This is a sandbox: what you write is kept sealed in this backend and sent to the shop alone. A shop's own policy stands here.",
		"Dies ist eine Testumgebung: Was Sie eingeben, wird verschlüsselt aufbewahrt und nur dem Geschäft gesendet. Hier steht die Erklärung eines Geschäfts.",
		"Ceci est un environnement de test : ce que vous écrivez est conservé chiffré et transmis au commerce seul. La politique d'un commerce figure ici.",
		"Questo è un ambiente di prova: ciò che scrive è conservato cifrato e inviato al solo negozio. Qui sta l'informativa di un negozio."},
}

// tongue is a column of words.
type tongue int

// code is the tongue's language code.
func (l tongue) code() string { return languages[l] }

// say gives a text.
func (l tongue) say(w word) string { return words[w][l] }

// tongueOf picks the language of a page: what the query asks for, else the browser's first that we speak.
func tongueOf(asked, accepted string) tongue {
	for _, want := range strings.Split(asked+","+accepted, ",") {
		want = strings.ToLower(strings.TrimSpace(want))
		for i, have := range languages {
			if want == have || len(want) > 2 && strings.HasPrefix(want, have) && strings.ContainsRune("-_;", rune(want[2])) {
				return tongue(i)
			}
		}
	}
	return 0
}
