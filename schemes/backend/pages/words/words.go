package words

import "strings"

// Word names a text of the pages.
type Word int

// The words of the payment page, of the hosted fields and of the page that customers are sent away to.
const (
	PayTo Word = iota
	Card
	Number
	Expiry
	Code
	Pay
	Cancel
	Back
	Choose
	Check
	BadNumber
	BadExpiry
	BadCode
	BadIBAN
	NotAccepted
	Declined
	NotProven
	Prove
	Approve
	Refuse
	Paid
	Closed
	Continue
	Fee
	Test
	Gone
	Stale
	Trouble
	Invoice
	Bank
	Wallet
	CardHolder
	Email
	ByCard
	PayWith
	BadName
	BadEmail
	BackToShop
	Terms
	Count
)

// labels has a line per language of S0 2.4.3: its code there, its code in HTML, its own name, and the words in the order above.
const labels = `EN|en|English|Pay to|Card|Card number|Expiry (MM/YY)|Security code (CVC)|Pay|Cancel|Back|Choose how to pay|Please check what is marked.|This is not a card number.|Not a date in the future, as MM/YY.|Three or four digits.|This is not an IBAN.|This card or method is not accepted here.|The payment was declined. Nothing was charged. You can try another card.|The bank could not confirm that it is you. Nothing was charged.|Your bank asks: is it you who pays?|Yes, it is me|No, stop|Paid. Thank you.|This payment is closed. Nothing was charged.|Continue to the shop|Fee|Only test cards work here.|There is no such payment.|This form is no longer valid. Please open the page again.|Something went wrong. Please try again.|Invoice|Bank account|Wallet|Name on the card|E-mail|Pay by card|Pay with|Please write a name.|This is not an e-mail address.|Back to the shop|Terms and conditions
DK|da|Dansk|Betal til|Kort|Kortnummer|Udløbsdato (MM/ÅÅ)|Sikkerhedskode (CVC)|Betal|Annuller|Tilbage|Vælg betalingsmåde|Kontrollér det markerede.|Det er ikke et kortnummer.|Ikke en dato i fremtiden, som MM/ÅÅ.|Tre eller fire cifre.|Det er ikke et IBAN.|Dette kort eller denne betalingsmåde accepteres ikke her.|Betalingen blev afvist. Intet er trukket. Du kan prøve et andet kort.|Banken kunne ikke bekræfte, at det er dig. Intet er trukket.|Din bank spørger: er det dig, der betaler?|Ja, det er mig|Nej, stop|Betalt. Tak.|Denne betaling er lukket. Intet er trukket.|Videre til butikken|Gebyr|Kun testkort virker her.|Betalingen findes ikke.|Formularen er ikke længere gyldig. Åbn siden igen.|Noget gik galt. Prøv igen.|Faktura|Bankkonto|Wallet|Navn på kortet|E-mail|Betal med kort|Betal med|Skriv et navn.|Det er ikke en e-mailadresse.|Tilbage til butikken|Vilkår og betingelser
NL|nl|Nederlands|Betalen aan|Kaart|Kaartnummer|Vervaldatum (MM/JJ)|Beveiligingscode (CVC)|Betalen|Annuleren|Terug|Kies hoe u betaalt|Controleer wat gemarkeerd is.|Dit is geen kaartnummer.|Geen datum in de toekomst, als MM/JJ.|Drie of vier cijfers.|Dit is geen IBAN.|Deze kaart of methode wordt hier niet geaccepteerd.|De betaling is geweigerd. Er is niets afgeschreven. Probeer een andere kaart.|De bank kon niet bevestigen dat u het bent. Er is niets afgeschreven.|Uw bank vraagt: bent u het die betaalt?|Ja, dat ben ik|Nee, stoppen|Betaald. Dank u.|Deze betaling is gesloten. Er is niets afgeschreven.|Verder naar de winkel|Kosten|Hier werken alleen testkaarten.|Deze betaling bestaat niet.|Dit formulier is niet meer geldig. Open de pagina opnieuw.|Er ging iets mis. Probeer het opnieuw.|Factuur|Bankrekening|Wallet|Naam op de kaart|E-mail|Betalen met kaart|Betalen met|Vul een naam in.|Dit is geen e-mailadres.|Terug naar de winkel|Algemene voorwaarden
ET|et|Eesti|Makse saaja|Kaart|Kaardi number|Kehtivus (KK/AA)|Turvakood (CVC)|Maksa|Tühista|Tagasi|Valige makseviis|Palun kontrollige märgitut.|See ei ole kaardi number.|Ei ole tulevane kuupäev kujul KK/AA.|Kolm või neli numbrit.|See ei ole IBAN.|Seda kaarti või makseviisi siin ei aktsepteerita.|Makse lükati tagasi. Raha ei võetud. Võite proovida teist kaarti.|Pank ei saanud kinnitada, et see olete teie. Raha ei võetud.|Teie pank küsib: kas maksate teie?|Jah, mina|Ei, lõpeta|Makstud. Aitäh.|See makse on suletud. Raha ei võetud.|Edasi poodi|Teenustasu|Siin töötavad ainult testkaardid.|Sellist makset ei ole.|Vorm ei kehti enam. Avage leht uuesti.|Midagi läks valesti. Proovige uuesti.|Arve|Pangakonto|Rahakott|Nimi kaardil|E-post|Maksa kaardiga|Maksa:|Kirjutage nimi.|See ei ole e-posti aadress.|Tagasi poodi|Tingimused
FI|fi|Suomi|Maksun saaja|Kortti|Kortin numero|Voimassa (KK/VV)|Turvakoodi (CVC)|Maksa|Peruuta|Takaisin|Valitse maksutapa|Tarkista merkityt kohdat.|Tämä ei ole kortin numero.|Ei tuleva päivä muodossa KK/VV.|Kolme tai neljä numeroa.|Tämä ei ole IBAN.|Tätä korttia tai maksutapaa ei hyväksytä täällä.|Maksu hylättiin. Mitään ei veloitettu. Voit kokeilla toista korttia.|Pankki ei voinut vahvistaa henkilöllisyyttäsi. Mitään ei veloitettu.|Pankkisi kysyy: oletko sinä maksaja?|Kyllä, minä|En, lopeta|Maksettu. Kiitos.|Tämä maksu on suljettu. Mitään ei veloitettu.|Jatka kauppaan|Lisämaksu|Vain testikortit toimivat täällä.|Maksua ei ole.|Lomake ei ole enää voimassa. Avaa sivu uudelleen.|Jokin meni vikaan. Yritä uudelleen.|Lasku|Pankkitili|Lompakko|Nimi kortissa|Sähköposti|Maksa kortilla|Maksa:|Kirjoita nimi.|Tämä ei ole sähköpostiosoite.|Takaisin kauppaan|Käyttöehdot
FR|fr|Français|Payer à|Carte|Numéro de carte|Expiration (MM/AA)|Code de sécurité (CVC)|Payer|Annuler|Retour|Choisissez le moyen de paiement|Veuillez vérifier ce qui est signalé.|Ce n'est pas un numéro de carte.|Pas une date à venir, au format MM/AA.|Trois ou quatre chiffres.|Ce n'est pas un IBAN.|Cette carte ou ce moyen n'est pas accepté ici.|Le paiement a été refusé. Rien n'a été débité. Vous pouvez essayer une autre carte.|La banque n'a pas pu confirmer votre identité. Rien n'a été débité.|Votre banque demande : est-ce bien vous qui payez ?|Oui, c'est moi|Non, arrêter|Payé. Merci.|Ce paiement est clos. Rien n'a été débité.|Continuer vers la boutique|Frais|Seules les cartes de test fonctionnent ici.|Ce paiement n'existe pas.|Ce formulaire n'est plus valable. Veuillez rouvrir la page.|Une erreur est survenue. Veuillez réessayer.|Facture|Compte bancaire|Portefeuille|Nom sur la carte|E-mail|Payer par carte|Payer avec|Veuillez écrire un nom.|Ce n'est pas une adresse e-mail.|Retour à la boutique|Conditions générales
DE|de|Deutsch|Zahlung an|Karte|Kartennummer|Gültig bis (MM/JJ)|Prüfnummer (CVC)|Bezahlen|Abbrechen|Zurück|Zahlungsart wählen|Bitte prüfen Sie, was markiert ist.|Das ist keine Kartennummer.|Kein Datum in der Zukunft, als MM/JJ.|Drei oder vier Ziffern.|Das ist keine IBAN.|Diese Karte oder Zahlungsart wird hier nicht angenommen.|Die Zahlung wurde abgelehnt. Es wurde nichts belastet. Sie können eine andere Karte versuchen.|Die Bank konnte nicht bestätigen, dass Sie es sind. Es wurde nichts belastet.|Ihre Bank fragt: Sind Sie es, der bezahlt?|Ja, ich bin es|Nein, aufhören|Bezahlt. Vielen Dank.|Diese Zahlung ist geschlossen. Es wurde nichts belastet.|Weiter zum Geschäft|Gebühr|Hier gehen nur Testkarten.|Diese Zahlung gibt es nicht.|Dieses Formular gilt nicht mehr. Bitte öffnen Sie die Seite neu.|Etwas ging schief. Bitte versuchen Sie es noch einmal.|Rechnung|Bankkonto|Wallet|Name auf der Karte|E-Mail|Mit Karte bezahlen|Bezahlen mit|Bitte geben Sie einen Namen an.|Das ist keine E-Mail-Adresse.|Zurück zum Geschäft|Allgemeine Geschäftsbedingungen
IT|it|Italiano|Pagare a|Carta|Numero della carta|Scadenza (MM/AA)|Codice di sicurezza (CVC)|Paga|Annulla|Indietro|Scelga come pagare|Controlli quanto segnalato.|Non è un numero di carta.|Non è una data futura, come MM/AA.|Tre o quattro cifre.|Non è un IBAN.|Questa carta o questo metodo non è accettato qui.|Il pagamento è stato rifiutato. Nulla è stato addebitato. Può provare un'altra carta.|La banca non ha potuto confermare la sua identità. Nulla è stato addebitato.|La sua banca chiede: è lei a pagare?|Sì, sono io|No, interrompi|Pagato. Grazie.|Questo pagamento è chiuso. Nulla è stato addebitato.|Continua verso il negozio|Commissione|Qui funzionano solo carte di prova.|Questo pagamento non esiste.|Il modulo non è più valido. Riapra la pagina.|Qualcosa è andato storto. Riprovi.|Fattura|Conto bancario|Portafoglio|Nome sulla carta|E-mail|Paga con carta|Paga con|Scriva un nome.|Non è un indirizzo e-mail.|Torna al negozio|Condizioni generali
LV|lv|Latviešu|Maksājums|Karte|Kartes numurs|Derīga līdz (MM/GG)|Drošības kods (CVC)|Maksāt|Atcelt|Atpakaļ|Izvēlieties maksāšanas veidu|Lūdzu, pārbaudiet atzīmēto.|Tas nav kartes numurs.|Nav datums nākotnē kā MM/GG.|Trīs vai četri cipari.|Tas nav IBAN.|Šo karti vai veidu šeit nepieņem.|Maksājums noraidīts. Nekas nav iekasēts. Varat mēģināt citu karti.|Banka nevarēja apstiprināt, ka tas esat jūs. Nekas nav iekasēts.|Jūsu banka jautā: vai maksājat jūs?|Jā, tas esmu es|Nē, pārtraukt|Samaksāts. Paldies.|Šis maksājums ir slēgts. Nekas nav iekasēts.|Tālāk uz veikalu|Komisija|Šeit der tikai testa kartes.|Šāda maksājuma nav.|Veidlapa vairs nav derīga. Atveriet lapu vēlreiz.|Kaut kas nogāja greizi. Mēģiniet vēlreiz.|Rēķins|Bankas konts|Maks|Vārds uz kartes|E-pasts|Maksāt ar karti|Maksāt ar|Ierakstiet vārdu.|Tā nav e-pasta adrese.|Atpakaļ uz veikalu|Noteikumi un nosacījumi
LT|lt|Lietuvių|Mokėti|Kortelė|Kortelės numeris|Galioja iki (MM/YY)|Saugos kodas (CVC)|Mokėti|Atšaukti|Atgal|Pasirinkite mokėjimo būdą|Patikrinkite, kas pažymėta.|Tai ne kortelės numeris.|Ne būsima data kaip MM/YY (mėnuo/metai).|Trys arba keturi skaitmenys.|Tai ne IBAN.|Ši kortelė ar būdas čia nepriimami.|Mokėjimas atmestas. Nieko nenuskaičiuota. Galite bandyti kitą kortelę.|Bankas negalėjo patvirtinti, kad tai jūs. Nieko nenuskaičiuota.|Jūsų bankas klausia: ar mokate jūs?|Taip, tai aš|Ne, stabdyti|Sumokėta. Ačiū.|Šis mokėjimas uždarytas. Nieko nenuskaičiuota.|Toliau į parduotuvę|Mokestis|Čia veikia tik bandomosios kortelės.|Tokio mokėjimo nėra.|Forma nebegalioja. Atverkite puslapį iš naujo.|Kažkas nepavyko. Bandykite dar kartą.|Sąskaita faktūra|Banko sąskaita|Piniginė|Vardas ant kortelės|El. paštas|Mokėti kortele|Mokėti su|Įrašykite vardą.|Tai ne el. pašto adresas.|Atgal į parduotuvę|Taisyklės ir sąlygos
NO|nb|Norsk|Betal til|Kort|Kortnummer|Utløpsdato (MM/ÅÅ)|Sikkerhetskode (CVC)|Betal|Avbryt|Tilbake|Velg betalingsmåte|Kontroller det som er merket.|Dette er ikke et kortnummer.|Ikke en dato i fremtiden, som MM/ÅÅ.|Tre eller fire sifre.|Dette er ikke et IBAN.|Dette kortet eller denne måten godtas ikke her.|Betalingen ble avvist. Ingenting er trukket. Du kan prøve et annet kort.|Banken kunne ikke bekrefte at det er deg. Ingenting er trukket.|Banken din spør: er det du som betaler?|Ja, det er meg|Nei, stopp|Betalt. Takk.|Denne betalingen er lukket. Ingenting er trukket.|Videre til butikken|Gebyr|Bare testkort virker her.|Betalingen finnes ikke.|Skjemaet er ikke lenger gyldig. Åpne siden på nytt.|Noe gikk galt. Prøv igjen.|Faktura|Bankkonto|Lommebok|Navn på kortet|E-post|Betal med kort|Betal med|Skriv et navn.|Dette er ikke en e-postadresse.|Tilbake til butikken|Vilkår og betingelser
PL|pl|Polski|Płatność dla|Karta|Numer karty|Ważna do (MM/RR)|Kod zabezpieczający (CVC)|Zapłać|Anuluj|Wstecz|Wybierz sposób płatności|Sprawdź to, co zaznaczono.|To nie jest numer karty.|To nie jest przyszła data jako MM/RR.|Trzy lub cztery cyfry.|To nie jest IBAN.|Ta karta lub metoda nie jest tu przyjmowana.|Płatność odrzucona. Nic nie pobrano. Możesz spróbować innej karty.|Bank nie mógł potwierdzić, że to Ty. Nic nie pobrano.|Twój bank pyta: czy to Ty płacisz?|Tak, to ja|Nie, przerwij|Zapłacono. Dziękujemy.|Ta płatność jest zamknięta. Nic nie pobrano.|Dalej do sklepu|Opłata|Tu działają tylko karty testowe.|Nie ma takiej płatności.|Formularz stracił ważność. Otwórz stronę ponownie.|Coś poszło nie tak. Spróbuj ponownie.|Faktura|Konto bankowe|Portfel|Imię i nazwisko na karcie|E-mail|Zapłać kartą|Zapłać z|Wpisz imię i nazwisko.|To nie jest adres e-mail.|Powrót do sklepu|Regulamin
PT|pt|Português|Pagar a|Cartão|Número do cartão|Validade (MM/AA)|Código de segurança (CVC)|Pagar|Cancelar|Voltar|Escolha como pagar|Verifique o que está assinalado.|Isto não é um número de cartão.|Não é uma data futura, como MM/AA.|Três ou quatro algarismos.|Isto não é um IBAN.|Este cartão ou método não é aceite aqui.|O pagamento foi recusado. Nada foi cobrado. Pode tentar outro cartão.|O banco não pôde confirmar que é você. Nada foi cobrado.|O seu banco pergunta: é você quem paga?|Sim, sou eu|Não, parar|Pago. Obrigado.|Este pagamento está encerrado. Nada foi cobrado.|Continuar para a loja|Taxa|Aqui só funcionam cartões de teste.|Esse pagamento não existe.|O formulário já não é válido. Abra a página de novo.|Algo correu mal. Tente de novo.|Fatura|Conta bancária|Carteira|Nome no cartão|E-mail|Pagar com cartão|Pagar com|Escreva um nome.|Isto não é um endereço de e-mail.|Voltar à loja|Termos e condições
RU|ru|Русский|Оплата в пользу|Карта|Номер карты|Срок действия (ММ/ГГ)|Код безопасности (CVC)|Оплатить|Отмена|Назад|Выберите способ оплаты|Проверьте отмеченное.|Это не номер карты.|Это не будущая дата в виде ММ/ГГ.|Три или четыре цифры.|Это не IBAN.|Эта карта или этот способ здесь не принимается.|Платёж отклонён. Ничего не списано. Можно попробовать другую карту.|Банк не смог подтвердить, что это вы. Ничего не списано.|Ваш банк спрашивает: платите вы?|Да, это я|Нет, остановить|Оплачено. Спасибо.|Этот платёж закрыт. Ничего не списано.|Перейти в магазин|Комиссия|Здесь работают только тестовые карты.|Такого платежа нет.|Форма больше не действует. Откройте страницу снова.|Что-то пошло не так. Попробуйте ещё раз.|Счёт|Банковский счёт|Кошелёк|Имя на карте|Эл. почта|Оплатить картой|Оплатить через|Укажите имя.|Это не адрес эл. почты.|Вернуться в магазин|Условия
ES|es|Español|Pagar a|Tarjeta|Número de tarjeta|Caducidad (MM/AA)|Código de seguridad (CVC)|Pagar|Cancelar|Volver|Elija cómo pagar|Compruebe lo señalado.|Esto no es un número de tarjeta.|No es una fecha futura, como MM/AA.|Tres o cuatro cifras.|Esto no es un IBAN.|Esta tarjeta o este medio no se acepta aquí.|El pago fue rechazado. No se ha cobrado nada. Puede probar otra tarjeta.|El banco no pudo confirmar que es usted. No se ha cobrado nada.|Su banco pregunta: ¿es usted quien paga?|Sí, soy yo|No, parar|Pagado. Gracias.|Este pago está cerrado. No se ha cobrado nada.|Continuar a la tienda|Comisión|Aquí solo funcionan tarjetas de prueba.|Ese pago no existe.|El formulario ya no es válido. Abra la página de nuevo.|Algo salió mal. Inténtelo de nuevo.|Factura|Cuenta bancaria|Monedero|Nombre en la tarjeta|Correo electrónico|Pagar con tarjeta|Pagar con|Escriba un nombre.|Esto no es un correo electrónico.|Volver a la tienda|Términos y condiciones
SE|sv|Svenska|Betala till|Kort|Kortnummer|Giltigt till (MM/ÅÅ)|Säkerhetskod (CVC)|Betala|Avbryt|Tillbaka|Välj betalningssätt|Kontrollera det som är markerat.|Detta är inget kortnummer.|Inget datum i framtiden, som MM/ÅÅ.|Tre eller fyra siffror.|Detta är inget IBAN.|Detta kort eller sätt godtas inte här.|Betalningen nekades. Inget har dragits. Du kan prova ett annat kort.|Banken kunde inte bekräfta att det är du. Inget har dragits.|Din bank frågar: är det du som betalar?|Ja, det är jag|Nej, avbryt|Betalt. Tack.|Den här betalningen är stängd. Inget har dragits.|Vidare till butiken|Avgift|Bara testkort fungerar här.|Betalningen finns inte.|Formuläret gäller inte längre. Öppna sidan igen.|Något gick fel. Försök igen.|Faktura|Bankkonto|Plånbok|Namn på kortet|E-post|Betala med kort|Betala med|Skriv ett namn.|Detta är ingen e-postadress.|Tillbaka till butiken|Villkor`

// Tongue is one language's words; the first three are its codes and its own name.
type Tongue []string

// All returns every language there is.
func All() []Tongue {
	var all []Tongue
	for line := range strings.SplitSeq(labels, "\n") {
		all = append(all, strings.Split(line, "|"))
	}
	return all
}

// maxWanted is how much of a list of languages is looked at, in bytes: anybody may send one.
const maxWanted = 256

// threeLetters are the codes of ISO 639-2 (S2 2.1), each before the code in HTML.
const threeLetters = "eng en dan da nld nl dut nl est et fin fi fra fr fre fr deu de ger de ita it lav lv lit lt nor nb nob nb nno nb pol pl por pt rus ru spa es swe sv "

// Of is the first of the wanted languages there is, English where there is none. A language is wanted by its code in S0 2.4.3,
// in ISO 639-2 or in HTML, in any case of letters, or by a list of those as a browser sends it.
func Of(wanted ...string) Tongue {
	all := All()
	for _, want := range wanted {
		for _, w := range strings.FieldsFunc(want[:min(len(want), maxWanted)], func(r rune) bool { return r == ',' || r == ' ' }) {
			w, _, _ = strings.Cut(w, ";")
			short, _, _ := strings.Cut(w, "-")
			if _, after, known := strings.Cut(threeLetters, strings.ToLower(w)+" "); known && len(w) == 3 {
				short = after[:2]
			}
			for _, t := range all {
				if strings.EqualFold(w, t[0]) || strings.EqualFold(short, t.Code()) {
					return t
				}
			}
		}
	}
	return all[0]
}

// Code returns the language's code in HTML.
func (t Tongue) Code() string { return t[1] }

// Name returns the language's own name.
func (t Tongue) Name() string { return t[2] }

// Say returns a text.
func (t Tongue) Say(w Word) string { return t[3+w] }
