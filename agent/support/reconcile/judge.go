package reconcile

// word is what one of the three says of the money.
type word string

// The words.
const (
	paid    word = "paid" // it moved, as was asked
	unpaid  word = "not paid"
	open    word = "open"      // not at its end
	absent  word = "not known" // it has no such sale; of the till: its list has no such row
	unasked word = "not asked" // no answer came
	altered word = "altered"   // of the journal: the row does not verify
)

// Class says how three answers agree.
type Class string

// The classes.
const (
	Agree       Class = "agree"
	PaidTillNo  Class = "paid_till_no"
	TillYesOnly Class = "till_yes_not_paid"
	Differ      Class = "journal_backend_differ"
	NotHere     Class = "not_known_here"
	OtherAmount Class = "other_amount"
	Open        Class = "open"
	Unasked     Class = "not_asked"
)

// Classes lists them in the order of a report.
func Classes() []Class {
	return []Class{Agree, PaidTillNo, TillYesOnly, Differ, NotHere, OtherAmount, Open, Unasked}
}

// Title is a class in words.
func (c Class) Title() string {
	return map[Class]string{
		Agree: "all agree", PaidTillNo: "paid, till says no", TillYesOnly: "till says yes, not paid", Differ: "journal and backend differ",
		NotHere: "not known here", OtherAmount: "paid, till says another amount", Open: "not at its end yet", Unasked: "the backend did not answer",
	}[c]
}

// judge is the table: what till, journal and backend say of one sale. settling = the journal knows that the backend is not done with
// an approved sale.
func judge(till, journal, backend word, settling bool) Class {
	switch journal {
	case absent:
		return judgeStranger(till, backend)
	case altered:
		return Differ
	case open:
		if till != paid && (backend == unpaid || backend == absent) {
			return Agree // nothing moved, and the terminal only watches that nothing does
		}
		return Open
	}
	switch {
	case backend == unasked:
		return Unasked
	case backend == open && settling:
		return Open
	case journal == paid && backend != paid, journal == unpaid && backend != unpaid && backend != absent:
		return Differ
	case journal == paid && till != paid:
		return PaidTillNo
	case journal == unpaid && till == paid:
		return TillYesOnly
	}
	return Agree
}

// judgeStranger is judge for a row whose sale the journal does not have. The backend was asked where the row has a name for it.
func judgeStranger(till, backend word) Class {
	switch {
	case till == paid, backend == open:
		return NotHere
	case backend == paid:
		return PaidTillNo
	}
	return Agree // the till says no, and nothing moved
}

// remedy is what a person does about a finding; SALE and LINE stand for the sale and the row.
func (f *Finding) remedy() string {
	sale := ""
	if f.Journal != nil {
		sale = string(f.Journal.Sale)
	}
	show := "posagent sale show " + sale
	switch f.Class {
	case PaidTillNo:
		switch {
		case f.Journal == nil:
			return "the backend has this payment and the journal does not: book it at the till as paid, or give it back at the backend's portal"
		case f.Journal.Kind != "payment":
			return "the money was given back: book the " + f.Journal.Kind + " at the till (" + show + ")"
		}
		return "the customer has paid: book it at the till as paid, or give the money back from the till by a refund (" + show + ")"
	case TillYesOnly:
		if f.Twice {
			return "the list names one sale twice, and it was paid once: take this row back at the till"
		}
		return "no money moved: take the row back at the till, and ask the customer to pay (" + show + ")"
	case Differ:
		if f.Journal.Says == string(altered) {
			return "the journal's row was changed from outside, so only the backend counts: compare it with the till (" + show + ")"
		}
		return "do not repeat and do not refund it before the operator of the backend has said which is right (" + show + ")"
	case NotHere:
		if f.Backend.Says == string(paid) {
			return "the backend has it as paid and this journal does not have it: look for the terminal that sold it, or for the journal that was replaced"
		}
		return "look for it on another terminal, and at the backend's portal: this journal has no such sale"
	case OtherAmount:
		return "the customer was charged the journal's amount: correct the till's (" + show + ")"
	case Open:
		return "it settles by itself: compare again later (" + show + ")"
	case Unasked:
		return "compare again when the backend answers: posagent net check"
	}
	return ""
}
