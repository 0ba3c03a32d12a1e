package decisions

// Memory lists what the running program knows beside its journal, and a start empties: each struct that
// a decision about money reads, with every field of it.
func Memory() []Holder {
	return append(counter(), append(queues(), registers()...)...)
}

// counter is the checkout's.
func counter() []Holder {
	return []Holder{{
		Of:    "agent/checkout/drive/live.Sale",
		Wired: "over",
		Places: []Place{
			{"seq limits", "which of two commits set the timers", "timers are computed again from the state that a start reads", []string{live + "TestTheNewerCommitSetsTheTimer"}},
			{"resting", "whether an attempt that was counted in this run has not left, so that it may be said unsent", "it is true of an attempt of this run alone: after a start every counted attempt counts as sent", []string{live + "TestField2_M1MemoryProvesNothingOfAnEarlierRun", drive + "TestField2_M1ARestartMakesNoSaleUnsent"}},
			{"readStop readGen tickStop lastRead", "when the next question is asked", "pace alone: a start asks at once", []string{live + "TestAnOlderCommitDoesNotReplaceAQuestion"}},
			{"silence", "how far the watch backs off", "pace alone: a start begins at the shortest pause", []string{sale + "TestField_L17WatchesBackOffFromTwoSeconds"}},
			{"prompt", "how the dialogue at the terminal is ended", "a sale that is being chosen is dropped at a start, and nothing was sent", []string{drive + "TestStopAtTheTerminal"}},
			{"waiters holds interim progress", "who is told, and that grace and the next command wait meanwhile", "after a start nobody waits: what was not recorded as heard is unheard, by the protocol's rule", []string{live + "TestAWaiterIsToldOnce", drive + "TestMoneyA3_NothingUndoesASaleWhileItIsBeingTold", allRestart}},
			{"deaf", "whether the commit that approves says that the answer leaves now", "it is read in that commit and stored with it; unknown, it says that nothing leaves", []string{drive + "TestField2_M4PowerIsLostAsTheAnswerLeaves", sale + "TestField2_M4AnAnswerThatMayHaveLeftIsKept"}},
			{"heard", "what a telling came to while the journal could not be written", "lost, it is a lost acknowledgement: undone, as the README says of it", []string{drive + "TestMoneyA3_WhatWasHeardIsStoredOnceTheStoreCan", allWrites}},
			{"patient", "the longer deadline of a register that acknowledges progress", "the state keeps the deadline with the next event", []string{drive + "TestMoneyA4_LongDeadlineWithProgress"}},
			{"unwanted", "that an abort of a refund came while an attempt was under way", "its register was told that it is too late; a start withdraws what never left, as without it", []string{drive + "TestField_L4WithdrawnAfterARestart"}},
			{"told", "that the till was told aborted without the journal, so that the sale is never approved", "a start judges the same by the age of the sale and its deadline, which are in the state", []string{drive + "TestField2_M21AStartUndoesWhatWasToldWithoutAJournal", sale + "TestField_J8ToldAbortedIsNeverApproved"}},
			{"interims", "which telling of in progress is reported on", "no end is told by it", []string{drive + "TestField2_M31AnAcknowledgementBelongsToItsTelling"}},
		},
	}, {
		Of:     "agent/checkout/drive/live.Sales",
		Wired:  "mu",
		Places: []Place{{"changed sales", "nothing by themselves: they hold the sales above", "a sale that is not in the map is read from the journal", []string{live + "TestASaleIsForgottenWhenNobodyNeedsIt"}}},
	}, {
		Of:    "agent/checkout/drive.Drive",
		Wired: "db j sales p methods refresh box prompter atTerminal cfg now boot bootID secret log audit closed barred resumed desk mu",
		Places: []Place{
			{"ready", "whether a sale may begin: not before every open one is taken up", "false at a start, until the journal has been read", []string{drive + "TestNotReadyBeforeTheJournalIsRead"}},
			{"asking", "whether the backend is asked again for diagnosis", "for people alone: no sale reads it", nil},
			{"resting", "that nothing begins any more in a program that is about to end", "the program ends; the next one takes sales again", []string{drive + "TestRest"}},
			{"stash", "the effects of an operation that was settled, until its commit is durable", "a start derives them from the state that the commit left", []string{allRestart, drive + "TestMoneyB1_OwedFromTheRowAlone"}},
			{"closing", "that an end of day runs, and who waits for it", "the day is closed by one commit or not at all; a start finds it so", []string{drive + "TestField2_M30NotClosedIsToldOfAnOpenDayAlone"}},
		},
	}, {
		Of:    "agent/checkout/drive/perform.Performer",
		Wired: "db j sales svc box screen cfg now boot bootID trusted log screenMu mu wake",
		Places: []Place{
			{"offline", "what Health says of the backend", "for people and the register's diagnosis: no sale reads it", nil},
			{"onScreen endShown pictured", "whose code may be replaced on the screen", "a start draws what the states say; a code that is not shown cannot be paid", []string{drive + "TestAnEndTakesThePlaceOfTheOneBefore"}},
			{"rests", "what the screen shows where no sale is on it", "the customer reads it alone; a start says that it starts, and judges", []string{"agent.TestField2_D9TheScreenSaysReadyOnlyWhereTheTerminalIs"}},
			{"jobs", "what is done next", "each follows from a state: a start plans it again", []string{allRestart}},
			{"until", "whether a new sale is sent, while the service of its method asks to be left alone", "lost, the service is asked once more, and says it again", []string{drive + "TestField2_N2AWishToWaitEndsASaleAtOnce"}},
			{"unread", "what status says of answers that cannot be read", "for people: no sale reads it", nil},
			{"onUndo", "which line is told of an undo", "a notice, after the undo is durable", []string{drive + "TestMoneyA3_TheLineIsToldWhenGraceIsOver"}},
		},
	}, {
		Of:    "agent/checkout/drive/perform.Route",
		Wired: "Service db address now log",
		Places: []Place{
			{"worked", "that the idempotent route exists here, so that the plain one is never taken", "it says what the journal has; unknown, the journal is read, and one that cannot be read proves no missing route", []string{drive + "TestField2_M17ThePlainRouteNeedsProof"}},
			{"neither", "that no sale can be made here", "for people: the sale itself ends by its own attempt", []string{drive + "TestField2_M8NeitherRouteIsThere"}},
		},
	}, {
		Of:    "agent/catalog.Catalog",
		Wired: "opts query log asking mu",
		Places: []Place{
			{"loaded defs fetched none", "which methods are offered", "they say what the journal has; a sale keeps the method it began with", []string{"agent/catalog.TestUsedOfflineAfterARestart", allMethods}},
			{"answered lastErr problems", "what status says of the list", "for people alone", nil},
		},
	}, {
		Of:    "cmd/posagent.running",
		Wired: "c cfg digest files on stamp db rest judged missed log",
		Places: []Place{
			{"bar", "that the box is not the terminal any more, or not yet, so that nothing is sold", "a start reads the enrolment first and asks the operator before a sale", []string{"agent/port/salesapi.TestField2_M12WhatForbidsSalesTakesEffectAtOnce", "agent/port/salesapi.TestAnUnconfirmedTerminalBeginsNothing"}},
			{"looked", "when a change of configuration is looked at again", "pace alone: nothing about money follows", nil},
		},
	}}
}

// queues are the outbox's, the gateway's and the payment links'.
func queues() []Holder {
	return []Holder{{
		Of:    "agent/outbox.Outbox",
		Wired: "db kinds order now jitter log record audit alerted probe par timeout ttl keep clock watch wake turn lastID mu names",
		Places: []Place{
			{"running", "that one loop sends", "the journal has one owner, and a second start of the loop is refused", []string{queue + "TestSecondRunIsRefused"}},
			{"busy", "which operation is under way, so that it is not begun twice", "SENT is durable before the first byte: a start counts it as sent", []string{queue + "TestSentIsDurableBeforeTheFirstByte", queue + "TestCrashBetweenSendAndSettle"}},
			{"panics", "when an operation that breaks its sender is held", "a start counts again: it is tried under its Key thrice more", []string{queue + "TestPoison"}},
			{"services", "whether a service is down", "pace, and how a caller is answered: see the fields below", []string{queue + "TestOutageIsProbedNotStormed"}},
		},
	}, {
		Of:    "agent/outbox.service",
		Wired: "name kinds",
		Places: []Place{
			{"down refused reason", "whether a write is answered with pending at once, and what cannot be stored is refused", "what is refused so was never sent, and what is pending is stored; a start finds out by its first attempt", []string{queue + "TestAcceptedForAServiceThatIsAway", gate + "TestAwayBeforeItIsRecorded"}},
			{"probing urgent after fails next okRun asked", "when it is tried again", "pace alone: a wait that proves something stands in the memo of its operation", []string{queue + "TestRestartResumesAtOnce", gate + "TestField2_M38NothingShortensTheWaitThatProves"}},
		},
	}, {
		Of:    "agent/outbox.clock",
		Wired: "mu boot bootID now trusted",
		Places: []Place{
			{"loaded start baseRun baseAge saved sure anchorAge anchorMS guessed", "how old a Key is, and how long something ran", "they are the journal's figures; what passed between two runs is unknown until a true time tells it, and nothing is sent again before", []string{queue + "TestField2_M10TheUpperBoundOfAge", queue + "TestRunningTimeDoesNotGoBackInACrash", queue + "TestAWallClockThatJumpsExpiresNothing"}},
			{"fromAge toAge jump", "which operations were sent in this run, before a gap was learnt", "after a start all of them are of an earlier run: their age is the longer one", []string{queue + "TestField2_M10AGapIsNoAgeOfWhatCameAfterIt"}},
			{"kept", "when the figures are stored next", "a power cut loses a second of them, and what was accepted shows how late it was", []string{queue + "TestRunningTimeDoesNotGoBackInACrash"}},
		},
	}, {
		Of:    "agent/gateway.Front",
		Wired: "o mu",
		Places: []Place{
			{"box pages kinds rows barred", "what it is joined with, and whether anything new is taken", "set as the program is put together, before it runs, and never after", nil},
			{"waits", "which caller hears the end at once", "a caller that is gone asks again under its key, and hears what the journal says", []string{gate + "TestOneKeyForEver"}},
			{"live lent", "the body of what is never stored, while its caller waits", "lost, the operation never leaves if it has not, and is in doubt if it has", []string{gate + "TestNotStoredIsNotSentAfterARestart", gate + "TestValidationCodeIsNeverStored"}},
			{"proven", "that a service was reached as itself, so that its writes are stored", "it says what the journal has for this address; a start asks again", []string{gate + "TestProvenOnce"}},
			{"lastThing", "the next local number", "read from the journal at the first use of a run, and never below what it has given", []string{gate + "TestIDsThatAreOurs"}},
		},
	}, {
		Of:    "agent/paylink.Service",
		Wired: "o log mu",
		Places: []Place{
			{"busy", "that one step of an undo is taken at a time", "steps are repeatable, and their snapshot is durable before a refund leaves", []string{link + "TestCrashAtEveryBoundary"}},
			{"mark", "for how long nothing has moved on a link, before silence proves anything", "a start begins the wait anew: it can only be longer", []string{link + "TestARefundAfterARestart", link + "TestMoneyB15_BegunAndLeft"}},
			{"past", "what has been read of the list that a lost journal's sales stand in", "a start reads it anew, and nothing is sent before it is read", []string{link + "TestField2_M14NothingIsSentBeforeTheLinksAreRead"}},
		},
	}}
}

// registers are the lines' and the dialogues'.
func registers() []Holder {
	const unheard = "after a start the register asks again in its protocol's way, and what it did not hear is unheard"
	return []Holder{{
		Of:    "ecr/session.Session",
		Wired: "o log mu saving",
		Places: []Place{
			{"memory", "what the line remembers of its register: registration, numbers, marks, recent messages", "a sale is refused while it cannot be stored, and a start loads it", []string{line + "TestField2_M14ARegistrationThatIsNotStoredFails", line + "TestField2_M14NumbersThatGoBackAreStoredFirst", "ecr/ecr17.TestField2_M14AMarkThatIsNotStoredRefusesTheRequest"}},
			{"dialogs opened owner sale link", "which connection runs the line, and which sale is open on it", unheard + "; the desk itself says what is open", []string{line + "TestField_L2ALostDialogueIsTakenOver", line + "TestAnotherConnection"}},
			{"takings", "which requests the desk is deciding about, so that nobody hears that they are not there", "each is in the journal, or was never accepted", []string{line + "TestField4_TillsAskedWhileItIsTaken"}},
			{"stats guard quiet next", "what is counted, and how strangers are paced", "nothing about money follows: a right password is taken at once", []string{line + "TestField2_D2WrongPasswordsCostTime"}},
		},
	}, {
		Of:    "ecr/session.dialog",
		Wired: "s number since send from dialogue events ended out jobs",
		Places: []Place{
			{"closeLine heard notice offered own rank shown timers", "the connection itself", "it is gone after a start, and the register connects anew", nil},
			{"lost follows", "whether somebody still listens for a sale's outcome", unheard, []string{line + "TestField_L2ALostDialogueIsTakenOver", line + "TestLostConnection"}},
			{"late", "what was taken back before it left", "what has not left was not told", []string{line + "TestUnsendTakesBackWhatHasNotLeft"}},
		},
	}, {
		Of:    "ecr/zvt.Machine",
		Wired: "cfg currency tid",
		Places: []Place{
			{"said before prof", "the registration that counts", "stored before the register hears that it counts; one that cannot be stored fails", []string{line + "TestField2_M14ARegistrationThatIsNotStoredFails", line + "TestRegistrationSurvivesARestart"}},
			{"ids", "whether a command is a repetition of the last one on this connection", "a repeated sale with a number is known by the journal; without one it is a new command, as the README says", []string{drive + "TestMoneyB11_ARepeatedRequest", line + "TestSequenceIDs"}},
			{"d phase gen orphans aborting", "which sale is told, and whether its answer belongs to it", unheard + ": 06 20 asks the journal", []string{"ecr/zvt.TestMoneyA3_ALateReplyIsNoAcknowledgement", "cross/campaign/line.TestField_L5L6Restarts"}},
			{"queue pending owed unsent answers leaving seq timers timerSeq actions", "the messages on the way", "an acknowledgement that is not awaited confirms nothing", []string{"ecr/zvt.TestMoneyA3_WhatIsUnsentEndsWithItsDialogue"}},
			{"shown paper", "the password, and lines for the printer", "nothing about money follows", nil},
			{"lastEOD", "that a repeated 06 50 is told the day that was closed", "it is not after a start: see the known faults of closing a day", nil},
		},
	}, {
		Of:    "ecr/jsonl.Dialogue",
		Wired: "cfg currency",
		Places: []Place{
			{"shown till width", "who the register says it is", "it says so again when it connects", nil},
			{"phase ask gen orphans next aborts asides", "what is asked for and told on this connection", unheard + ": the id finds the sale in the journal", []string{drive + "TestMoneyF3_ASaleIsFoundByItsID", line + "TestDeliveryIsRecordedInTheEnd"}},
			{"done", "that a second ack of the same outcome is answered", "the sale was confirmed by the first", nil},
			{"day", "that the same id of an end of day is told the day that was closed", "stored after the closing: see the known faults of closing a day", nil},
			{"seq timers timerSeq actions", "the messages on the way", "told by the id alone", nil},
		},
	}, {
		Of:    "ecr/ecr17.Dialogue",
		Wired: "cfg line cable currency words",
		Places: []Place{
			{"phase run next gen orphans", "what is asked for and told on this connection", unheard + ": G asks the journal", []string{"ecr/ecr17.TestDialogues"}},
			{"marks", "whether G may name the line's last sale", "stored before the sale is asked for, else it is refused", []string{"ecr/ecr17.TestField2_M14AMarkThatIsNotStoredRefusesTheRequest"}},
			{"stale", "that the same bytes on a cable are not a new request", "after a start they are: the first sale is unheard, and undone by the second", []string{drive + "TestMoneyB6_LastReceiptOfTheNextCommand"}},
			{"paper told toldTo", "what is printed again", "paper alone: no sale is told or ended by it", nil},
			{"seq timerSeq awaited timers list", "the messages on the way", "an acknowledgement that is not awaited confirms nothing", nil},
		},
	}, {
		Of:    "ecr/nexo.line",
		Wired: "running busy",
		Places: []Place{
			{"early", "which aborts fitted nothing, for ten seconds", "after a start such a payment is stopped by its status or its next abort; it is told, and undone, as any", []string{"ecr/nexo.TestField2_R7_AnAbortIsNotForgotten"}},
			{"recent", "what an answer repeats of its request", "stored, and a sale is refused while it cannot be; the journal finds every sale by its ids", []string{drive + "TestMoneyF3_ASaleIsFoundByHowItsIDBegins", line + "TestField2_M14NumbersThatGoBackAreStoredFirst"}},
		},
	}, {
		Of:    "ecr/caisseap.dialogue",
		Wired: "cfg line currency",
		Places: []Place{
			{"phase seq r sale open held gone bad no told list", "what the one request of this connection came to", "the connection ends with it; what may have left as the terminal stopped is kept, with an alert", []string{drive + "TestField2_M4PowerIsLostAsTheAnswerLeaves", "ecr/caisseap.TestMatrix"}},
		},
	}, {
		Of:    "agent/port/salesapi.Till",
		Wired: "o reject done close mu",
		Places: []Place{
			{"runs takings", "which request carries an outcome, and which is the first under its key", "a key finds its sale in the journal; what was not heard is kept or undone by the client's rule", []string{"agent/port/salesapi.TestRestartInTheMiddle", "agent/port/salesapi.TestSameKeyAtOnce"}},
		},
	}}
}
