package pages

// word is a text of the page in both languages.
type word int

// The texts.
const (
	terminalTitle word = iota
	noRealMoney
	contents
	stateTitle
	stateReady
	stateNotReady
	stateUnknown
	enterTitle
	enterWhy
	tokenLabel
	tokenWhere
	enterButton
	wrongToken
	lockedOut
	mayNone
	leaveButton
	salesTitle
	newestSales
	noTurnover
	countPayments
	countRefunds
	moreSales
	waitingTitle
	nothingWaits
	alertsTitle
	noAlerts
	alertsSay
	methodsTitle
	neverFetched
	noneFetched
	fetched
	linesTitle
	noLines
	lineOpen
	lineClosed
	lineAlone
	doctorTitle
	doctorSays
	auditTitle
	noAudit
	programsTitle
	programsSay
	typeThis
	mayNotSee
	unreadable
	asOf
	reload
	seenBy
	ownToken
	payment
	refund
	reversal
	approved
	declined
	aborted
	running
	settled
	undoOwed
	setAside
	days
	hours
	minutes
	seconds
	unitOfLimits
	meanDelay
	staleAfter
	finalizeWithin
	delayedAmount
	receiptFor
	asks
	colTime
	colOutcome
	colKind
	colMethod
	colState
	colOldest
	colReason
	colType
	colTypes
	colTrigger
	colTimes
	colRules
	colLine
	colHeard
	colDeed
	colActor
	colSubject
	colDetail
	colAmount
	colReceipt
	colCount
	colPriority
	colIn
	colOut
	colRepeated
	colBad
	colNoise
	colRefused
	wordCount
)

// The columns of numbers.
const (
	firstNumber = colAmount
	lastNumber  = colRefused
)

// texts has each word; a test finds one that is missing.
var texts = [wordCount]struct{ en, de string }{
	terminalTitle:  {"Terminal", "Terminal"},
	noRealMoney:    {"SANDBOX - no real money", "SANDBOX - kein echtes Geld"},
	contents:       {"Contents", "Inhalt"},
	stateTitle:     {"State", "Zustand"},
	stateReady:     {"The register may ask for a sale.", "Die Kasse kann einen Verkauf anfragen."},
	stateNotReady:  {"The register cannot ask for a sale now.", "Die Kasse kann jetzt keinen Verkauf anfragen."},
	stateUnknown:   {"Not known", "Nicht bekannt"},
	enterTitle:     {"See more", "Mehr sehen"},
	enterWhy:       {"Amounts and everything else are shown once a token is entered.", "Beträge und alles Weitere stehen hier, sobald ein Token eingegeben ist."},
	tokenLabel:     {"Token of the terminal, or of one of its clients", "Token des Terminals oder eines seiner Programme"},
	tokenWhere:     {"It is in the file port.token of the terminal's state directory. This page shows, and changes nothing.", "Es steht in der Datei port.token im Datenverzeichnis des Terminals. Diese Seite zeigt nur an, sie ändert nichts."},
	enterButton:    {"Show", "Anzeigen"},
	wrongToken:     {"This is no token of this terminal.", "Das ist kein Token dieses Terminals."},
	lockedOut:      {"Too many wrong tokens. Wait a minute, then try again.", "Zu viele falsche Token. Bitte eine Minute warten, dann noch einmal versuchen."},
	mayNone:        {"This token is good, but its client may not read: add read to may of [port.clients].", "Das Token stimmt, aber sein Programm darf nicht lesen: read in may von [port.clients] eintragen."},
	leaveButton:    {"Leave", "Verlassen"},
	salesTitle:     {"Sales of the day", "Verkäufe des Tages"},
	newestSales:    {"Newest sales", "Neueste Verkäufe"},
	noTurnover:     {"No approved sale since midnight.", "Kein genehmigter Verkauf seit Mitternacht."},
	countPayments:  {"Payments:", "Zahlungen:"},
	countRefunds:   {"refunds and reversals:", "Gutschriften und Stornos:"},
	moreSales:      {"The sums are those of the newest 1000 sales; the day has more.", "Die Summen sind die der neuesten 1000 Verkäufe; der Tag hat mehr."},
	waitingTitle:   {"Waiting for the backend", "Wartet auf das Backend"},
	nothingWaits:   {"Nothing waits.", "Nichts wartet."},
	alertsTitle:    {"Needs attention", "Zu erledigen"},
	noAlerts:       {"Nothing has to be done.", "Nichts ist zu tun."},
	alertsSay:      {"These came to nothing after their clients were told that they were stored. Acknowledge each one by its command.", "Diese Vorgänge sind gescheitert, nachdem ihre Programme gehört hatten, dass sie gespeichert sind. Jeder wird mit seinem Befehl bestätigt."},
	methodsTitle:   {"Payment methods", "Zahlungsarten"},
	neverFetched:   {"The list of methods was never fetched.", "Die Liste der Zahlungsarten wurde noch nie geholt."},
	noneFetched:    {"The backend knows no method for this merchant and terminal.", "Das Backend kennt keine Zahlungsart für diesen Händler und dieses Terminal."},
	fetched:        {"Age of the list:", "Alter der Liste:"},
	linesTitle:     {"Register lines", "Kassenleitungen"},
	noLines:        {"No register line is open.", "Keine Kassenleitung ist offen."},
	lineOpen:       {"open", "offen"},
	lineClosed:     {"not open", "nicht offen"},
	lineAlone:      {"open, no register at the other end", "offen, keine Kasse am anderen Ende"},
	doctorTitle:    {"Checks", "Prüfungen"},
	doctorSays:     {"The checks are not made by this page: the command names what is wrong, and what mends it.", "Diese Seite prüft nicht selbst: Der Befehl nennt, was nicht stimmt, und was hilft."},
	auditTitle:     {"Audit log", "Protokoll"},
	noAudit:        {"The audit log has no line.", "Das Protokoll hat keine Zeile."},
	programsTitle:  {"For programs", "Für Programme"},
	programsSay:    {"The port's description, its figures and its live events are for programs. A browser is refused there.", "Die Beschreibung des Ports, seine Zahlen und seine laufenden Ereignisse sind für Programme. Browser werden dort abgewiesen."},
	typeThis:       {"Type:", "Befehl:"},
	mayNotSee:      {"This token's client may not see this; it needs", "Das Programm dieses Tokens darf das nicht sehen; es braucht"},
	unreadable:     {"This cannot be read now. The log of the terminal says why.", "Das ist jetzt nicht lesbar. Warum, steht im Log des Terminals."},
	asOf:           {"As of", "Stand"},
	reload:         {"Load again", "Neu laden"},
	seenBy:         {"Shown to", "Angezeigt für"},
	ownToken:       {"the terminal's own token", "das Token des Terminals"},
	payment:        {"payment", "Zahlung"},
	refund:         {"refund", "Gutschrift"},
	reversal:       {"reversal", "Storno"},
	approved:       {"approved", "genehmigt"},
	declined:       {"declined", "abgelehnt"},
	aborted:        {"aborted", "abgebrochen"},
	running:        {"running", "läuft"},
	settled:        {"finished", "abgeschlossen"},
	undoOwed:       {"being undone", "wird zurückgenommen"},
	setAside:       {"set aside", "zurückgestellt"},
	days:           {"days", "Tage"},
	hours:          {"h", "Std."},
	minutes:        {"min", "Min."},
	seconds:        {"s", "s"},
	unitOfLimits:   {"Stale and finalize are in the unit of [methods] timeout_unit, minutes unless it says otherwise.", "Veraltet und Abschließen stehen in der Einheit von [methods] timeout_unit, ohne Angabe Minuten."},
	meanDelay:      {"answer after about", "Antwort nach etwa"},
	staleAfter:     {"stale after", "veraltet nach"},
	finalizeWithin: {"finalize within", "abschließen innerhalb"},
	delayedAmount:  {"amount may follow", "Betrag darf folgen"},
	receiptFor:     {"merchant receipt for", "Händlerbeleg für"},
	asks:           {"questions to the customer:", "Fragen an den Kunden:"},
	colTime:        {"Time", "Zeit"},
	colAmount:      {"Amount", "Betrag"},
	colOutcome:     {"Outcome", "Ergebnis"},
	colKind:        {"Kind", "Art"},
	colMethod:      {"Method", "Zahlungsart"},
	colState:       {"State", "Zustand"},
	colReceipt:     {"Receipt", "Beleg"},
	colCount:       {"Count", "Anzahl"},
	colOldest:      {"Oldest", "Ältester"},
	colReason:      {"Reason", "Grund"},
	colType:        {"Type", "Befehl"},
	colPriority:    {"Priority", "Vorrang"},
	colTypes:       {"Transactions", "Vorgänge"},
	colTrigger:     {"Started by", "Auslöser"},
	colTimes:       {"Times", "Zeiten"},
	colRules:       {"Rules", "Regeln"},
	colLine:        {"Line", "Leitung"},
	colHeard:       {"Last heard", "Zuletzt gehört"},
	colIn:          {"In", "Ein"},
	colOut:         {"Out", "Aus"},
	colRepeated:    {"Repeated", "Wiederholt"},
	colBad:         {"Bad", "Fehlerhaft"},
	colNoise:       {"Noise bytes", "Störbytes"},
	colRefused:     {"Refused", "Abgewiesen"},
	colDeed:        {"Deed", "Vorgang"},
	colActor:       {"By", "Durch"},
	colSubject:     {"Of", "Woran"},
	colDetail:      {"Detail", "Einzelheit"},
}
