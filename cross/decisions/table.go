package decisions

// Change is what happens to the world between a decision's facts and the decision, or after it.
type Change int

// The changes.
const (
	Restart     Change = iota // the process starts again
	Boot                      // the box boots with another clock
	Older                     // an older backup stands there
	New                       // the journal is new
	Address                   // the service has another address
	Account                   // the service has another account
	Currency                  // the terminal has another currency
	LineName                  // the line has another name
	Method                    // the method is another, or gone
	AnotherTill               // another line or till asks the same
	WriteFails                // a write fails
	Late                      // the answer is late
	Doubled                   // the answer comes twice
	Anothers                  // the answer is another's
	Unreadable                // the answer is unreadable, or nobody's
)

// Changes are the changes in the order of the table, as a person reads them.
func Changes() []string {
	return []string{
		"the process starts again", "the box boots with another clock", "an older backup stands there", "the journal is new",
		"another address", "another account", "another currency", "another line name", "another method", "another line or till asks the same",
		"a write fails", "the answer is late", "the answer is doubled", "the answer is another's", "the answer is unreadable or nobody's",
	}
}

// Deeds are the kinds of decisions. Each has a row at least.
func Deeds() []string {
	return []string{
		"accept", "approve", "tell", "join", "refuse", "undo", "end an undo", "send", "send again", "DONE", "doubt", "give a receipt", "close a day", "forget",
	}
}

// Decision is one row.
type Decision struct {
	Deed  string // one of Deeds
	Of    string // what is decided about
	By    []string
	Facts []Fact
	On    map[Change]Cell
}

// Fact is what a decision reads. Where is one of
//
//	checkout_sales.state                a column of the journal
//	read schemes/aapay.Service.Status   the read of a service
//	setting [terminal] currency         the configuration
//	asked                               the request itself
//	memory agent/…/live.Sale.told       what this run knows: it stands in Memory, too
type Fact struct{ What, Where string }

// Cell is what becomes of a decision under a change: Becomes, shown by Tests; or Cannot, the reason why
// the change cannot meet it; or Wrong, what is known to go wrong and is not mended yet.
type Cell struct {
	Becomes string
	Tests   []string // package.Test
	Cannot  string
	Wrong   string
}

// runs is a cell that tests show.
func runs(becomes string, tests ...string) Cell { return Cell{Becomes: becomes, Tests: tests} }

// cannot is a cell that nothing can reach.
func cannot(why string) Cell { return Cell{Cannot: why} }

// wrong is a cell in which something goes wrong still. Tests show the part that is right, if any.
func wrong(what string, tests ...string) Cell { return Cell{Wrong: what, Tests: tests} }

// Holder is a struct of the running program. Wired are its fields that are set when it is made, and never
// after; Places are the others.
type Holder struct {
	Of     string // package.Type
	Wired  string // names
	Places []Place
}

// Place is what a running program knows, decides by, and does not keep: fields that change.
type Place struct {
	Fields   string // names
	Decides  string
	Harmless string   // what makes it so
	Tests    []string // package.Test; none where nothing about money follows from it
}

// The packages whose tests are named most.
const (
	sale    = "agent/checkout."
	drive   = "agent/checkout/drive."
	journal = "agent/checkout/drive/journal."
	live    = "agent/checkout/drive/live."
	queue   = "agent/outbox."
	gate    = "agent/gateway."
	link    = "agent/paylink."
	whole   = "agent."
	line    = "ecr/session."
)

// The tests that bring a sale to each of its moments, change the world there and judge its end.
const (
	allRestart = drive + "TestDecisions_TheProcessStartsAgain"
	allBoot    = drive + "TestDecisions_AnotherClock"
	allOlder   = drive + "TestDecisions_AnOlderBackup"
	allNew     = drive + "TestDecisions_ANewJournal"
	allTills   = drive + "TestDecisions_AnotherTillAsksTheSame"
	allMethods = drive + "TestDecisions_AnotherMethod"
	allWrites  = drive + "TestDecisions_AWriteFails"
	allLate    = drive + "TestDecisions_TheAnswerIsLate"
	allDoubled = drive + "TestDecisions_TheAnswerIsDoubled"
	allOthers  = drive + "TestDecisions_TheAnswerIsAnothers"
	allGarbled = drive + "TestDecisions_TheAnswerIsUnreadable"
)

// The same of a local client's write.
const (
	everyRestart = gate + "TestDecisions_TheProcessStartsAgain"
	everyOlder   = gate + "TestDecisions_AnOlderBackup"
	everyNew     = gate + "TestDecisions_ANewJournal"
	everyClient  = gate + "TestDecisions_AnotherClientAsksTheSame"
	everyWrite   = gate + "TestDecisions_AWriteFails"
	everyLate    = gate + "TestDecisions_TheAnswerIsLate"
	everyDoubled = gate + "TestDecisions_TheAnswerIsDoubled"
	everyOthers  = gate + "TestDecisions_TheAnswerIsAnothers"
	everyGarbled = gate + "TestDecisions_TheAnswerIsUnreadable"
)

// What several rows say of the same change.
const (
	boundWhole = "the sale is bound to the service's address and account: with anything open the program does not start elsewhere, and names what is open"
	ownMethod  = "a sale goes on by its own copy of the method, whatever the list says"
)

// ofSale fills in what is so of every sale that is open, and is not said by the row itself.
func ofSale(on map[Change]Cell) map[Change]Cell {
	return fill(on, map[Change]Cell{
		Address:  runs(boundWhole, bindSchemes),
		Account:  runs(boundWhole, bindAll, whole+"TestField_J6AJournalBelongsToOneTerminal"),
		Currency: runs("the sale has its own currency in its row; another one waits for the end of the day", keepMoney, drive+"TestField2_M27SumsAreKeptOnePerCurrency"),
		LineName: runs("the line has an id of its own in the journal, which outlives its name, its place and its transport", keepLine),
		Method:   runs(ownMethod, allMethods),
	})
}

// ofOperation is the same for an operation of the queue.
func ofOperation(on map[Change]Cell) map[Change]Cell {
	return fill(on, map[Change]Cell{
		Address:     runs("with an operation of the service open the program does not start on another address, and names what is open", bindAll),
		Account:     runs("with an operation of the service open the program does not start on another account; ids of the one before are refused", bindAll, gate+"TestField2_M41AThingOfTheProviderBeforeIsRefused"),
		Currency:    cannot("amount and currency stand in the operation, and go out as they were accepted"),
		LineName:    cannot("an operation belongs to a sale or a local client, and to no line"),
		Method:      cannot("what is sent stands in the operation's sealed payload, with what counts as its success"),
		AnotherTill: cannot("the queue has one operation under a Key, whoever asked for it"),
	})
}

func fill(on, by map[Change]Cell) map[Change]Cell {
	for change, cell := range by {
		if _, ok := on[change]; !ok {
			on[change] = cell
		}
	}
	return on
}

// The tests of the binding.
const (
	bindSchemes = whole + "TestAJournalBelongsToOneBackend"
	bindAll     = whole + "TestField2_M20AServiceIsBoundToItsBooks"
	bindAccount = whole + "TestField2_M41WhatAClientOwnsIsOfOneAccount"
	keepLine    = whole + "TestField2_M25IDsOutliveTheConfiguration"
	keepMoney   = drive + "TestField2_M27ABatchHasOneCurrency"
)

// Table is all of them.
func Table() []Decision {
	var all []Decision
	for _, rows := range [][]Decision{sales(), undos(), writes(), operations(), books()} {
		all = append(all, rows...)
	}
	return all
}
