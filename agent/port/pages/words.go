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
	olderOpen
	noTurnover
	countPayments
	countRefunds
	moreSales
	waitingTitle
	nothingWaits
	alertsTitle
	noAlerts
	alertsSay
	differencesSay
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
	meansOfLimits
	meanDelay
	staleAge
	delayedAmount
	receiptFor
	asks
	loginTitle
	loginWhy
	pinLabel
	loginButton
	logoutButton
	noPIN
	brokenPIN
	wrongPIN
	manyPINs
	pinWait
	uncountedPIN
	thePerson
	overTitle
	overWhy
	overAgain
	oldForm
	unknownDo
	wantsReason
	wantsProof
	wantsWord
	goneOn
	refusedByIt
	failedByIt
	saidAck
	saidSend
	saidSendAll
	saidDue
	saidHold
	saidRelease
	saidResolve
	alertsAct
	shortMerchant
	shortCustomer
	shortUnknown
	ackButton
	sendButton
	sendAllButton
	holdLink
	releaseLink
	resolveLink
	moreOps
	backLink
	cancelLink
	operationTitle
	decisionTitle
	holdTitle
	holdMeans
	holdReason
	holdButton
	releaseTitle
	releaseMeans
	releaseButton
	resolveTitle
	resolveMeans
	resolveWhich
	resolveDone
	resolveFailed
	resolveReason
	resolveButton
	sureTitle
	sureMeans
	sureButton
	checksPassed
	eventsTitle
	newestEvents
	noEvents
	paceTitle
	paceNone
	paceNow
	paceEach
	paceStop
	colTime
	colEvent
	colOutcome
	colKind
	colMethod
	colState
	colOldest
	colReason
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
	enterTitle:     {"See more with a token", "Mehr sehen mit einem Token"},
	enterWhy:       {"Amounts and everything else are shown once a token is entered.", "Beträge und alles Weitere stehen hier, sobald ein Token eingegeben ist."},
	tokenLabel:     {"Token of the terminal, or of one of its clients", "Token des Terminals oder eines seiner Programme"},
	tokenWhere:     {"It is in the file port.token of the terminal's state directory. With a token the page shows, and changes nothing.", "Es steht in der Datei port.token im Datenverzeichnis des Terminals. Mit einem Token zeigt die Seite nur an, sie ändert nichts."},
	enterButton:    {"Show", "Anzeigen"},
	wrongToken:     {"This is no token of this terminal.", "Das ist kein Token dieses Terminals."},
	lockedOut:      {"Too many wrong tokens. Wait a minute, then try again.", "Zu viele falsche Token. Bitte eine Minute warten, dann noch einmal versuchen."},
	mayNone:        {"This token is good, but its client may not read: add read to may of [port.clients].", "Das Token stimmt, aber sein Programm darf nicht lesen: read in may von [port.clients] eintragen."},
	leaveButton:    {"Leave", "Verlassen"},
	salesTitle:     {"Sales of the day", "Verkäufe des Tages"},
	newestSales:    {"Newest sales", "Neueste Verkäufe"},
	olderOpen:      {"Older sales that are open", "Ältere offene Verkäufe"},
	noTurnover:     {"No approved sale since midnight.", "Kein genehmigter Verkauf seit Mitternacht."},
	countPayments:  {"Payments:", "Zahlungen:"},
	countRefunds:   {"refunds and reversals:", "Gutschriften und Stornos:"},
	moreSales:      {"The sums are those of the newest 1000 sales; the day has more.", "Die Summen sind die der neuesten 1000 Verkäufe; der Tag hat mehr."},
	waitingTitle:   {"Waiting for the backend", "Wartet auf das Backend"},
	nothingWaits:   {"Nothing waits.", "Nichts wartet."},
	alertsTitle:    {"Needs attention", "Zu erledigen"},
	noAlerts:       {"Nothing has to be done.", "Nichts ist zu tun."},
	differencesSay: {"These differ between the till's list, the terminal and the backend. Do what stands below each one, then acknowledge it.", "Hier unterscheiden sich die Liste der Kasse, das Terminal und das Backend. Bitte tun, was bei jedem steht, dann bestätigen."},
	alertsSay:      {"Here the money is not where the register or the client was told. Put each one right, then acknowledge it by its command.", "Hier ist das Geld nicht dort, wo es Kasse oder Programm gehört haben. Bitte jedes in Ordnung bringen, dann mit seinem Befehl bestätigen."},
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
	doctorSays:     {"This page asks nothing of the network and reads no whole journal. The command makes every check.", "Diese Seite fragt nichts im Netz und liest kein ganzes Journal. Der Befehl macht jede Prüfung."},
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
	meansOfLimits:  {"Stale age: a code may be scanned so long. staleTimeOut: then the customer may confirm so long. finalizeTimeOut: a reservation may stand so long.", "Stale-Alter: so lange darf ein Code gescannt werden. staleTimeOut: so lange darf der Kunde dann bestätigen. finalizeTimeOut: so lange darf eine Reservierung stehen."},
	meanDelay:      {"answer after about", "Antwort nach etwa"},
	staleAge:       {"stale age", "Stale-Alter"},
	delayedAmount:  {"amount may follow", "Betrag darf folgen"},
	receiptFor:     {"merchant receipt for", "Händlerbeleg für"},
	asks:           {"questions to the customer:", "Fragen an den Kunden:"},
	loginTitle:     {"Log in", "Anmelden"},
	loginWhy:       {"With the terminal's PIN you see everything, and can act: acknowledge alerts, and send, hold, release or decide what waits.", "Mit der PIN des Terminals sehen Sie alles und können handeln: Meldungen bestätigen und Wartendes senden, zurückstellen, freigeben oder entscheiden."},
	pinLabel:       {"PIN of the terminal", "PIN des Terminals"},
	loginButton:    {"Log in", "Anmelden"},
	logoutButton:   {"Log out", "Abmelden"},
	noPIN:          {"No PIN is set, so nothing can be done from this page. The terminal's own account or root sets one:", "Es ist keine PIN gesetzt, daher lässt sich von dieser Seite aus nichts tun. Das Konto des Terminals oder root setzt eine:"},
	brokenPIN:      {"The PIN that was set cannot be read, so nothing can be done from this page. The log of the terminal says why. The terminal's own account or root sets a new one:", "Die gesetzte PIN ist nicht lesbar, daher lässt sich von dieser Seite aus nichts tun. Warum, steht im Log des Terminals. Das Konto des Terminals oder root setzt eine neue:"},
	wrongPIN:       {"This is not the PIN of this terminal.", "Das ist nicht die PIN dieses Terminals."},
	manyPINs:       {"Too many wrong PINs from here. This one was not looked at. A browser in which the PIN was entered before still takes it, and a new PIN opens the form: sudo posagent config pin.", "Zu viele falsche PINs von hier. Diese wurde nicht geprüft. Ein Browser, in dem die PIN schon einmal eingegeben wurde, nimmt sie weiter an, und eine neue PIN öffnet das Formular: sudo posagent config pin."},
	pinWait:        {"The next PIN is looked at in", "Die nächste PIN wird geprüft in"},
	uncountedPIN:   {"The PIN was not looked at, because the try cannot be written to the journal. The log of the terminal says why.", "Die PIN wurde nicht geprüft, weil der Versuch nicht ins Journal geschrieben werden kann. Warum, steht im Log des Terminals."},
	thePerson:      {"a person with the PIN", "eine Person mit der PIN"},
	overTitle:      {"Your login has ended", "Ihre Anmeldung ist beendet"},
	overWhy:        {"Nothing was done. A login ends after 10 minutes without a look, after 2 hours, with the terminal, and when the PIN is changed.", "Es wurde nichts getan. Eine Anmeldung endet nach 10 Minuten ohne Blick auf die Seite, nach 2 Stunden, mit dem Terminal und wenn die PIN geändert wird."},
	overAgain:      {"Log in again", "Neu anmelden"},
	oldForm:        {"Nothing was done: this form was sent before, or is too old. Look at the page, then try again.", "Es wurde nichts getan: Dieses Formular war schon abgeschickt oder ist zu alt. Bitte die Seite ansehen, dann noch einmal versuchen."},
	unknownDo:      {"Nothing was done: this page has no such form.", "Es wurde nichts getan: Diese Seite hat kein solches Formular."},
	wantsReason:    {"Nothing was done: write why, for the next person.", "Es wurde nichts getan: Bitte den Grund angeben, für die nächste Person."},
	wantsProof:     {"Nothing was done: write the proof, it is kept.", "Es wurde nichts getan: Bitte den Beleg angeben, er bleibt erhalten."},
	wantsWord:      {"Nothing was done: choose what the backend's books show.", "Es wurde nichts getan: Bitte wählen, was die Bücher des Backends zeigen."},
	goneOn:         {"Nothing was done: it has gone on since this page was opened. Look at what became of it, and at the backend's books, again.", "Es wurde nichts getan: Es ist weitergegangen, seit diese Seite geöffnet wurde. Bitte noch einmal ansehen, was daraus wurde und was die Bücher des Backends zeigen."},
	refusedByIt:    {"Nothing was done:", "Es wurde nichts getan:"},
	failedByIt:     {"The terminal could not do it. Look at the page to see what holds.", "Das Terminal konnte es nicht ausführen. Was gilt, zeigt die Seite."},
	saidAck:        {"The alert is acknowledged.", "Die Meldung ist bestätigt."},
	saidSend:       {"The operation is being sent.", "Der Vorgang wird gesendet."},
	saidSendAll:    {"Everything that waits is being sent.", "Alles Wartende wird gesendet."},
	saidDue:        {"Operations:", "Vorgänge:"},
	saidHold:       {"The operation is held until it is released.", "Der Vorgang ist zurückgestellt, bis er freigegeben wird."},
	saidRelease:    {"The operation goes on.", "Der Vorgang geht weiter."},
	saidResolve:    {"The operation is decided.", "Der Vorgang ist entschieden."},
	alertsAct:      {"Here the money is not where the register or the client was told. Put each one right, then acknowledge it.", "Hier ist das Geld nicht dort, wo es Kasse oder Programm gehört haben. Bitte jedes in Ordnung bringen, dann bestätigen."},
	shortMerchant:  {"The merchant is short of it.", "Es fehlt dem Händler."},
	shortCustomer:  {"The customer may be short of it.", "Es fehlt vielleicht dem Kunden."},
	shortUnknown:   {"Who is short of it is not known.", "Wem es fehlt, ist nicht bekannt."},
	ackButton:      {"Acknowledge", "Bestätigen"},
	sendButton:     {"Send now", "Jetzt senden"},
	sendAllButton:  {"Send everything now", "Alles jetzt senden"},
	holdLink:       {"Hold…", "Zurückstellen…"},
	releaseLink:    {"Release…", "Freigeben…"},
	resolveLink:    {"Decide…", "Entscheiden…"},
	moreOps:        {"There are more. posagent ops list --open shows all.", "Es gibt weitere. posagent ops list --open zeigt alle."},
	backLink:       {"Back to the terminal", "Zurück zum Terminal"},
	cancelLink:     {"Cancel", "Abbrechen"},
	operationTitle: {"The operation", "Der Vorgang"},
	decisionTitle:  {"What you do", "Was Sie tun"},
	holdTitle:      {"Hold an operation", "Einen Vorgang zurückstellen"},
	holdMeans:      {"It is not sent until a person releases it. What follows it waits too. If its final answer is on the way, it ends by that.", "Er wird nicht gesendet, bis eine Person ihn freigibt. Was auf ihn folgt, wartet mit. Ist seine endgültige Antwort unterwegs, endet er durch sie."},
	holdReason:     {"Why, for the next person", "Grund, für die nächste Person"},
	holdButton:     {"Hold it", "Zurückstellen"},
	releaseTitle:   {"Release an operation", "Einen Vorgang freigeben"},
	releaseMeans:   {"It goes on where it was, and is sent to the backend. Be sure that it was not done another way in the meantime.", "Er geht weiter, wo er war, und wird an das Backend gesendet. Stellen Sie sicher, dass er nicht inzwischen anders erledigt wurde."},
	releaseButton:  {"Release it", "Freigeben"},
	resolveTitle:   {"Decide an operation", "Einen Vorgang entscheiden"},
	resolveMeans:   {"Proof is what the backend's own books say. Look there for the amount, the time and the key, not at the receipt or the customer's word. A wrong “declined” charges twice when it is asked for again. A wrong “accepted” loses the money.", "Ein Beleg ist, was die Bücher des Backends sagen. Suchen Sie dort nach Betrag, Zeit und Schlüssel, nicht auf dem Kassenbon oder im Wort des Kunden. Ein falsches „abgelehnt“ belastet doppelt, wenn es neu angefordert wird. Ein falsches „angenommen“ verliert das Geld."},
	resolveWhich:   {"What the backend's books show", "Was die Bücher des Backends zeigen"},
	resolveDone:    {"Accepted: the books show it.", "Angenommen: Die Bücher zeigen ihn."},
	resolveFailed:  {"Declined: the books do not show it, and no attempt can still arrive.", "Abgelehnt: Die Bücher zeigen ihn nicht, und kein Versuch kann noch ankommen."},
	resolveReason:  {"Proof: where it was looked up, by whom, and what stood there", "Beleg: wo nachgesehen wurde, von wem, und was dort stand"},
	resolveButton:  {"Go on", "Weiter"},
	sureTitle:      {"Confirm the decision", "Die Entscheidung bestätigen"},
	sureMeans:      {"This cannot be taken back.", "Das lässt sich nicht zurücknehmen."},
	sureButton:     {"Yes, it is so", "Ja, so ist es"},
	checksPassed:   {"Checks that pass:", "Bestandene Prüfungen:"},
	eventsTitle:    {"Events", "Ereignisse"},
	newestEvents:   {"Newest events", "Neueste Ereignisse"},
	noEvents:       {"Nothing has happened yet.", "Es ist noch nichts geschehen."},
	paceTitle:      {"Live", "Laufend"},
	paceNone:       {"This page does not load itself again. Choose how often it shall.", "Diese Seite lädt sich nicht selbst neu. Wählen Sie, wie oft sie es soll."},
	paceNow:        {"This page loads itself again every", "Diese Seite lädt sich neu alle"},
	paceEach:       {"Every", "Alle"},
	paceStop:       {"Stop", "Anhalten"},
	colTime:        {"Time", "Zeit"},
	colAmount:      {"Amount", "Betrag"},
	colEvent:       {"Event", "Ereignis"},
	colOutcome:     {"Outcome", "Ergebnis"},
	colKind:        {"Kind", "Art"},
	colMethod:      {"Method", "Zahlungsart"},
	colState:       {"State", "Zustand"},
	colReceipt:     {"Receipt", "Beleg"},
	colCount:       {"Count", "Anzahl"},
	colOldest:      {"Oldest", "Ältester"},
	colReason:      {"Reason", "Grund"},
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
