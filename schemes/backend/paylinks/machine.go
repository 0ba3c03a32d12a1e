package paylinks

// Status is a word of facts S1 2.1 and 2.2 about a transaction; a link shows the word of the payment it has.
type Status string

// The words of a transaction this room uses.
const (
	Waiting    Status = "waiting" // the provider has not decided yet
	Confirmed  Status = "confirmed"
	Authorized Status = "authorized"
	Reserved   Status = "reserved"
	Declined   Status = "declined"
	Cancelled  Status = "cancelled"
	Failed     Status = "error"
	Partly     Status = "partially-refunded"
	Refunded   Status = "refunded"
)

// event is what can happen to a transaction.
type event string

const (
	evApprove   event = "approve"   // paid
	evAuthorize event = "authorize" // may be charged later, nothing is held
	evReserve   event = "reserve"   // held, may be charged later
	evDecline   event = "decline"
	evCancel    event = "cancel" // the customer or the provider gave up
	evFail      event = "fail"
	evCharge    event = "charge"
	evCapture   event = "capture"
	evRefund    event = "refund"    // ends in Refunded when nothing is left
	evRemove    event = "remove"    // DELETE
	evLapse     event = "lapse"     // the cardholder, who was asked by 3-D Secure, did not answer
	evLapseBad  event = "lapse-bad" // the same, where no answer of his would do
)

// edge is one line of the state machine.
type edge struct {
	from Status
	on   event
	to   Status
}

// edges is the state machine of a transaction (S1 3.1). What it does not list is refused.
var edges = [...]edge{
	{Waiting, evApprove, Confirmed},
	{Waiting, evAuthorize, Authorized},
	{Waiting, evReserve, Reserved},
	{Waiting, evDecline, Declined},
	{Waiting, evCancel, Cancelled},
	{Waiting, evFail, Failed},
	{Waiting, evLapse, Declined},
	{Waiting, evLapseBad, Declined},
	{Authorized, evCharge, Confirmed},
	{Authorized, evCapture, Confirmed},
	{Authorized, evRemove, Cancelled},
	{Reserved, evCharge, Confirmed},
	{Reserved, evCapture, Confirmed},
	{Reserved, evRemove, Cancelled},
	{Confirmed, evRefund, Partly},
	{Partly, evRefund, Partly},
}

// next gives the word after an event; false: the event is refused in this state.
func next(s Status, e event) (Status, bool) {
	for _, x := range edges {
		if x.from == s && x.on == e {
			return x.to, true
		}
	}
	return s, false
}

// holds says that a link whose payment has this word is taken: no other customer may pay it.
func (s Status) holds() bool {
	switch s {
	case Declined, Cancelled, Failed:
		return false
	}
	return true
}

// ofLink gives the word of the link whose payment has this one: S1 2.1 knows four.
func (s Status) ofLink() Status {
	switch s {
	case Confirmed, Partly, Refunded:
		return Confirmed
	case Authorized, Reserved:
		return s
	}
	return Waiting
}
