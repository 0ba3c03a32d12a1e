package cards

import "strings"

// word names a text of the pages.
type word int

const (
	wPayTo word = iota
	wCard
	wNumber
	wExpiry
	wCode
	wPay
	wCancel
	wBack
	wChoose
	wCheck
	wBadNumber
	wBadExpiry
	wBadCode
	wBadIBAN
	wNotAccepted
	wDeclined
	wNotProven
	wProve
	wApprove
	wRefuse
	wPaid
	wClosed
	wContinue
	wFee
	wTest
	wGone
	wStale
	wTrouble
	wInvoice
	wBank
	wWallet
	wordCount
)

// labels has a line per language of S0 2.4.3: its code there, its code in HTML, its own name, and the words in the order above.
const labels = `EN|en|English|Pay to|Card|Card number|Expiry (MM/YY)|Security code (CVC)|Pay|Cancel|Back|Choose how to pay|Please check what is marked.|This is not a card number.|Not a date in the future, as MM/YY.|Three or four digits.|This is not an IBAN.|This card or method is not accepted here.|The payment was declined. Nothing was charged. You can try another card.|The bank could not confirm that it is you. Nothing was charged.|Your bank asks: is it you who pays?|Yes, it is me|No, stop|Paid. Thank you.|This payment is closed. Nothing was charged.|Continue to the shop|Fee|Only test cards work here.|There is no such payment.|This form is no longer valid. Please open the page again.|Something went wrong. Please try again.|Invoice|Bank account|Wallet
DK|da|Dansk|Betal til|Kort|Kortnummer|Udløbsdato (MM/ÅÅ)|Sikkerhedskode (CVC)|Betal|Annuller|Tilbage|Vælg betalingsmåde|Kontrollér det markerede.|Det er ikke et kortnummer.|Ikke en dato i fremtiden, som MM/ÅÅ.|Tre eller fire cifre.|Det er ikke et IBAN.|Dette kort eller denne betalingsmåde accepteres ikke her.|Betalingen blev afvist. Intet er trukket. Du kan prøve et andet kort.|Banken kunne ikke bekræfte, at det er dig. Intet er trukket.|Din bank spørger: er det dig, der betaler?|Ja, det er mig|Nej, stop|Betalt. Tak.|Denne betaling er lukket. Intet er trukket.|Videre til butikken|Gebyr|Kun testkort virker her.|Betalingen findes ikke.|Formularen er ikke længere gyldig. Åbn siden igen.|Noget gik galt. Prøv igen.|Faktura|Bankkonto|Wallet
NL|nl|Nederlands|Betalen aan|Kaart|Kaartnummer|Vervaldatum (MM/JJ)|Beveiligingscode (CVC)|Betalen|Annuleren|Terug|Kies hoe u betaalt|Controleer wat gemarkeerd is.|Dit is geen kaartnummer.|Geen datum in de toekomst, als MM/JJ.|Drie of vier cijfers.|Dit is geen IBAN.|Deze kaart of methode wordt hier niet geaccepteerd.|De betaling is geweigerd. Er is niets afgeschreven. Probeer een andere kaart.|De bank kon niet bevestigen dat u het bent. Er is niets afgeschreven.|Uw bank vraagt: bent u het die betaalt?|Ja, dat ben ik|Nee, stoppen|Betaald. Dank u.|Deze betaling is gesloten. Er is niets afgeschreven.|Verder naar de winkel|Kosten|Hier werken alleen testkaarten.|Deze betaling bestaat niet.|Dit formulier is niet meer geldig. Open de pagina opnieuw.|Er ging iets mis. Probeer het opnieuw.|Factuur|Bankrekening|Wallet
ET|et|Eesti|Makse saaja|Kaart|Kaardi number|Kehtivus (KK/AA)|Turvakood (CVC)|Maksa|Tühista|Tagasi|Valige makseviis|Palun kontrollige märgitut.|See ei ole kaardi number.|Ei ole tulevane kuupäev kujul KK/AA.|Kolm või neli numbrit.|See ei ole IBAN.|Seda kaarti või makseviisi siin ei aktsepteerita.|Makse lükati tagasi. Raha ei võetud. Võite proovida teist kaarti.|Pank ei saanud kinnitada, et see olete teie. Raha ei võetud.|Teie pank küsib: kas maksate teie?|Jah, mina|Ei, lõpeta|Makstud. Aitäh.|See makse on suletud. Raha ei võetud.|Edasi poodi|Teenustasu|Siin töötavad ainult testkaardid.|Sellist makset ei ole.|Vorm ei kehti enam. Avage leht uuesti.|Midagi läks valesti. Proovige uuesti.|Arve|Pangakonto|Rahakott
FI|fi|Suomi|Maksun saaja|Kortti|Kortin numero|Voimassa (KK/VV)|Turvakoodi (CVC)|Maksa|Peruuta|Takaisin|Valitse maksutapa|Tarkista merkityt kohdat.|Tämä ei ole kortin numero.|Ei tuleva päivä muodossa KK/VV.|Kolme tai neljä numeroa.|Tämä ei ole IBAN.|Tätä korttia tai maksutapaa ei hyväksytä täällä.|Maksu hylättiin. Mitään ei veloitettu. Voit kokeilla toista korttia.|Pankki ei voinut vahvistaa henkilöllisyyttäsi. Mitään ei veloitettu.|Pankkisi kysyy: oletko sinä maksaja?|Kyllä, minä|En, lopeta|Maksettu. Kiitos.|Tämä maksu on suljettu. Mitään ei veloitettu.|Jatka kauppaan|Lisämaksu|Vain testikortit toimivat täällä.|Maksua ei ole.|Lomake ei ole enää voimassa. Avaa sivu uudelleen.|Jokin meni vikaan. Yritä uudelleen.|Lasku|Pankkitili|Lompakko
FR|fr|Français|Payer à|Carte|Numéro de carte|Expiration (MM/AA)|Code de sécurité (CVC)|Payer|Annuler|Retour|Choisissez le moyen de paiement|Veuillez vérifier ce qui est signalé.|Ce n'est pas un numéro de carte.|Pas une date à venir, au format MM/AA.|Trois ou quatre chiffres.|Ce n'est pas un IBAN.|Cette carte ou ce moyen n'est pas accepté ici.|Le paiement a été refusé. Rien n'a été débité. Vous pouvez essayer une autre carte.|La banque n'a pas pu confirmer votre identité. Rien n'a été débité.|Votre banque demande : est-ce bien vous qui payez ?|Oui, c'est moi|Non, arrêter|Payé. Merci.|Ce paiement est clos. Rien n'a été débité.|Continuer vers la boutique|Frais|Seules les cartes de test fonctionnent ici.|Ce paiement n'existe pas.|Ce formulaire n'est plus valable. Veuillez rouvrir la page.|Une erreur est survenue. Veuillez réessayer.|Facture|Compte bancaire|Portefeuille
DE|de|Deutsch|Zahlung an|Karte|Kartennummer|Gültig bis (MM/JJ)|Prüfnummer (CVC)|Bezahlen|Abbrechen|Zurück|Zahlungsart wählen|Bitte prüfen Sie, was markiert ist.|Das ist keine Kartennummer.|Kein Datum in der Zukunft, als MM/JJ.|Drei oder vier Ziffern.|Das ist keine IBAN.|Diese Karte oder Zahlungsart wird hier nicht angenommen.|Die Zahlung wurde abgelehnt. Es wurde nichts belastet. Sie können eine andere Karte versuchen.|Die Bank konnte nicht bestätigen, dass Sie es sind. Es wurde nichts belastet.|Ihre Bank fragt: Sind Sie es, der bezahlt?|Ja, ich bin es|Nein, aufhören|Bezahlt. Vielen Dank.|Diese Zahlung ist geschlossen. Es wurde nichts belastet.|Weiter zum Geschäft|Gebühr|Hier gehen nur Testkarten.|Diese Zahlung gibt es nicht.|Dieses Formular gilt nicht mehr. Bitte öffnen Sie die Seite neu.|Etwas ging schief. Bitte versuchen Sie es noch einmal.|Rechnung|Bankkonto|Wallet
IT|it|Italiano|Pagare a|Carta|Numero della carta|Scadenza (MM/AA)|Codice di sicurezza (CVC)|Paga|Annulla|Indietro|Scelga come pagare|Controlli quanto segnalato.|Non è un numero di carta.|Non è una data futura, come MM/AA.|Tre o quattro cifre.|Non è un IBAN.|Questa carta o questo metodo non è accettato qui.|Il pagamento è stato rifiutato. Nulla è stato addebitato. Può provare un'altra carta.|La banca non ha potuto confermare la sua identità. Nulla è stato addebitato.|La sua banca chiede: è lei a pagare?|Sì, sono io|No, interrompi|Pagato. Grazie.|Questo pagamento è chiuso. Nulla è stato addebitato.|Continua verso il negozio|Commissione|Qui funzionano solo carte di prova.|Questo pagamento non esiste.|Il modulo non è più valido. Riapra la pagina.|Qualcosa è andato storto. Riprovi.|Fattura|Conto bancario|Portafoglio
LV|lv|Latviešu|Maksājums|Karte|Kartes numurs|Derīga līdz (MM/GG)|Drošības kods (CVC)|Maksāt|Atcelt|Atpakaļ|Izvēlieties maksāšanas veidu|Lūdzu, pārbaudiet atzīmēto.|Tas nav kartes numurs.|Nav datums nākotnē kā MM/GG.|Trīs vai četri cipari.|Tas nav IBAN.|Šo karti vai veidu šeit nepieņem.|Maksājums noraidīts. Nekas nav iekasēts. Varat mēģināt citu karti.|Banka nevarēja apstiprināt, ka tas esat jūs. Nekas nav iekasēts.|Jūsu banka jautā: vai maksājat jūs?|Jā, tas esmu es|Nē, pārtraukt|Samaksāts. Paldies.|Šis maksājums ir slēgts. Nekas nav iekasēts.|Tālāk uz veikalu|Komisija|Šeit der tikai testa kartes.|Šāda maksājuma nav.|Veidlapa vairs nav derīga. Atveriet lapu vēlreiz.|Kaut kas nogāja greizi. Mēģiniet vēlreiz.|Rēķins|Bankas konts|Maks
LT|lt|Lietuvių|Mokėti|Kortelė|Kortelės numeris|Galioja iki (MM/YY)|Saugos kodas (CVC)|Mokėti|Atšaukti|Atgal|Pasirinkite mokėjimo būdą|Patikrinkite, kas pažymėta.|Tai ne kortelės numeris.|Ne būsima data kaip MM/YY (mėnuo/metai).|Trys arba keturi skaitmenys.|Tai ne IBAN.|Ši kortelė ar būdas čia nepriimami.|Mokėjimas atmestas. Nieko nenuskaičiuota. Galite bandyti kitą kortelę.|Bankas negalėjo patvirtinti, kad tai jūs. Nieko nenuskaičiuota.|Jūsų bankas klausia: ar mokate jūs?|Taip, tai aš|Ne, stabdyti|Sumokėta. Ačiū.|Šis mokėjimas uždarytas. Nieko nenuskaičiuota.|Toliau į parduotuvę|Mokestis|Čia veikia tik bandomosios kortelės.|Tokio mokėjimo nėra.|Forma nebegalioja. Atverkite puslapį iš naujo.|Kažkas nepavyko. Bandykite dar kartą.|Sąskaita faktūra|Banko sąskaita|Piniginė
NO|nb|Norsk|Betal til|Kort|Kortnummer|Utløpsdato (MM/ÅÅ)|Sikkerhetskode (CVC)|Betal|Avbryt|Tilbake|Velg betalingsmåte|Kontroller det som er merket.|Dette er ikke et kortnummer.|Ikke en dato i fremtiden, som MM/ÅÅ.|Tre eller fire sifre.|Dette er ikke et IBAN.|Dette kortet eller denne måten godtas ikke her.|Betalingen ble avvist. Ingenting er trukket. Du kan prøve et annet kort.|Banken kunne ikke bekrefte at det er deg. Ingenting er trukket.|Banken din spør: er det du som betaler?|Ja, det er meg|Nei, stopp|Betalt. Takk.|Denne betalingen er lukket. Ingenting er trukket.|Videre til butikken|Gebyr|Bare testkort virker her.|Betalingen finnes ikke.|Skjemaet er ikke lenger gyldig. Åpne siden på nytt.|Noe gikk galt. Prøv igjen.|Faktura|Bankkonto|Lommebok
PL|pl|Polski|Płatność dla|Karta|Numer karty|Ważna do (MM/RR)|Kod zabezpieczający (CVC)|Zapłać|Anuluj|Wstecz|Wybierz sposób płatności|Sprawdź to, co zaznaczono.|To nie jest numer karty.|To nie jest przyszła data jako MM/RR.|Trzy lub cztery cyfry.|To nie jest IBAN.|Ta karta lub metoda nie jest tu przyjmowana.|Płatność odrzucona. Nic nie pobrano. Możesz spróbować innej karty.|Bank nie mógł potwierdzić, że to Ty. Nic nie pobrano.|Twój bank pyta: czy to Ty płacisz?|Tak, to ja|Nie, przerwij|Zapłacono. Dziękujemy.|Ta płatność jest zamknięta. Nic nie pobrano.|Dalej do sklepu|Opłata|Tu działają tylko karty testowe.|Nie ma takiej płatności.|Formularz stracił ważność. Otwórz stronę ponownie.|Coś poszło nie tak. Spróbuj ponownie.|Faktura|Konto bankowe|Portfel
PT|pt|Português|Pagar a|Cartão|Número do cartão|Validade (MM/AA)|Código de segurança (CVC)|Pagar|Cancelar|Voltar|Escolha como pagar|Verifique o que está assinalado.|Isto não é um número de cartão.|Não é uma data futura, como MM/AA.|Três ou quatro algarismos.|Isto não é um IBAN.|Este cartão ou método não é aceite aqui.|O pagamento foi recusado. Nada foi cobrado. Pode tentar outro cartão.|O banco não pôde confirmar que é você. Nada foi cobrado.|O seu banco pergunta: é você quem paga?|Sim, sou eu|Não, parar|Pago. Obrigado.|Este pagamento está encerrado. Nada foi cobrado.|Continuar para a loja|Taxa|Aqui só funcionam cartões de teste.|Esse pagamento não existe.|O formulário já não é válido. Abra a página de novo.|Algo correu mal. Tente de novo.|Fatura|Conta bancária|Carteira
RU|ru|Русский|Оплата в пользу|Карта|Номер карты|Срок действия (ММ/ГГ)|Код безопасности (CVC)|Оплатить|Отмена|Назад|Выберите способ оплаты|Проверьте отмеченное.|Это не номер карты.|Это не будущая дата в виде ММ/ГГ.|Три или четыре цифры.|Это не IBAN.|Эта карта или этот способ здесь не принимается.|Платёж отклонён. Ничего не списано. Можно попробовать другую карту.|Банк не смог подтвердить, что это вы. Ничего не списано.|Ваш банк спрашивает: платите вы?|Да, это я|Нет, остановить|Оплачено. Спасибо.|Этот платёж закрыт. Ничего не списано.|Перейти в магазин|Комиссия|Здесь работают только тестовые карты.|Такого платежа нет.|Форма больше не действует. Откройте страницу снова.|Что-то пошло не так. Попробуйте ещё раз.|Счёт|Банковский счёт|Кошелёк
ES|es|Español|Pagar a|Tarjeta|Número de tarjeta|Caducidad (MM/AA)|Código de seguridad (CVC)|Pagar|Cancelar|Volver|Elija cómo pagar|Compruebe lo señalado.|Esto no es un número de tarjeta.|No es una fecha futura, como MM/AA.|Tres o cuatro cifras.|Esto no es un IBAN.|Esta tarjeta o este medio no se acepta aquí.|El pago fue rechazado. No se ha cobrado nada. Puede probar otra tarjeta.|El banco no pudo confirmar que es usted. No se ha cobrado nada.|Su banco pregunta: ¿es usted quien paga?|Sí, soy yo|No, parar|Pagado. Gracias.|Este pago está cerrado. No se ha cobrado nada.|Continuar a la tienda|Comisión|Aquí solo funcionan tarjetas de prueba.|Ese pago no existe.|El formulario ya no es válido. Abra la página de nuevo.|Algo salió mal. Inténtelo de nuevo.|Factura|Cuenta bancaria|Monedero
SE|sv|Svenska|Betala till|Kort|Kortnummer|Giltigt till (MM/ÅÅ)|Säkerhetskod (CVC)|Betala|Avbryt|Tillbaka|Välj betalningssätt|Kontrollera det som är markerat.|Detta är inget kortnummer.|Inget datum i framtiden, som MM/ÅÅ.|Tre eller fyra siffror.|Detta är inget IBAN.|Detta kort eller sätt godtas inte här.|Betalningen nekades. Inget har dragits. Du kan prova ett annat kort.|Banken kunde inte bekräfta att det är du. Inget har dragits.|Din bank frågar: är det du som betalar?|Ja, det är jag|Nej, avbryt|Betalt. Tack.|Den här betalningen är stängd. Inget har dragits.|Vidare till butiken|Avgift|Bara testkort fungerar här.|Betalningen finns inte.|Formuläret gäller inte längre. Öppna sidan igen.|Något gick fel. Försök igen.|Faktura|Bankkonto|Plånbok`

// tongue is one language's words; the first three are its codes and its own name.
type tongue []string

func tongues() []tongue {
	var all []tongue
	for line := range strings.SplitSeq(labels, "\n") {
		all = append(all, strings.Split(line, "|"))
	}
	return all
}

// maxWanted is how much of a list of languages is looked at, in bytes: anybody may send one.
const maxWanted = 256

// tongueOf is the first of the wanted languages there is, English where there is none. A language is wanted by its code in
// S0 2.4.3 or its code in HTML, in any case of letters, or by a list of those as a browser sends it.
func tongueOf(wanted ...string) tongue {
	all := tongues()
	for _, want := range wanted {
		for _, w := range strings.FieldsFunc(want[:min(len(want), maxWanted)], func(r rune) bool { return r == ',' || r == ' ' }) {
			w, _, _ = strings.Cut(w, ";")
			short, _, _ := strings.Cut(w, "-")
			for _, t := range all {
				if strings.EqualFold(w, t[0]) || strings.EqualFold(short, t.code()) {
					return t
				}
			}
		}
	}
	return all[0]
}

func (t tongue) code() string      { return t[1] }
func (t tongue) name() string      { return t[2] }
func (t tongue) say(w word) string { return t[3+w] }
