package payments

import "posagent/schemes/payments"

// State is where a payment stands. It is stored by name.
type State string

// The states.
const (
	Fresh      State = "new"        // no means of payment is known
	Ready      State = "ready"      // known and authenticated, no money moved
	Challenged State = "challenged" // the cardholder is being asked (3-D Secure)
	Reserved   State = "reserved"   // money is held, none captured
	Charged    State = "charged"    // some of it, or all, is captured
	Lapsed     State = "lapsed"     // some was captured, what was left is no longer held
	Cancelled  State = "cancelled"  // the reservation was given up
	Expired    State = "expired"    // the reservation was over before any capture
	Terminated State = "terminated" // ended without money
)

// Event is what happens to a payment.
type Event string

// The events.
const (
	Identify Event = "identify" // the means are known and good
	Ask      Event = "ask"      // a challenge begins
	Fail     Event = "fail"     // a challenge is lost
	Reserve  Event = "reserve"
	Capture  Event = "capture"
	Cancel   Event = "cancel"
	Refund   Event = "refund"
	Lapse    Event = "lapse" // the reservation's time is over
	Leave    Event = "leave" // the page's time is over, the customer left, or a payment without a page was refused
)

func events() []Event {
	return []Event{Identify, Ask, Fail, Reserve, Capture, Cancel, Refund, Lapse, Leave}
}

// Kinds of operations on a payment, and their states.
const (
	authorize = "authorize"
	capture   = "capture"
	cancel    = "cancel"
	refund    = "refund"

	done    = "done"
	pending = "pending"
	failed  = "failed"
)

// listOf is where a reading of a payment has its operations of a kind.
func listOf(kind string, out *payments.Payment) *[]payments.Entry {
	switch kind {
	case authorize:
		return &out.Authorizations
	case capture:
		return &out.Captures
	case cancel:
		return &out.Cancellations
	default:
		return &out.Refunds
	}
}

// cells of the table: the next state, or "!" and the reason of payments' catalogue why not. "" = it means nothing here.
const (
	noReserve = "!" + payments.NotReserved
	noCharge  = "!" + payments.ChargeNotFound
	again     = "!" + payments.AlreadyReserved
	charged   = "!" + payments.AlreadyCharged
	void      = "!" + payments.AlreadyCancelled
	late      = "!" + payments.ReservationExpired
	over      = "!" + payments.PaymentExpired
	unproven  = "!" + payments.AuthenticationFailed
)

// machine is the one table: a line per state, a cell per event in the order of events.
var machine = [...]struct {
	from State
	to   [9]string
}{
	//           Identify       Ask                 Fail         Reserve           Capture           Cancel             Refund            Lapse             Leave
	{Fresh, [9]string{string(Ready), string(Challenged), string(Fresh), string(Reserved), noReserve, noReserve, noCharge, "", string(Terminated)}},
	{Ready, [9]string{string(Ready), again, "", string(Reserved), noReserve, noReserve, noCharge, "", ""}},
	{Challenged, [9]string{string(Ready), string(Challenged), string(Fresh), unproven, noReserve, noReserve, noCharge, "", string(Terminated)}},
	{Reserved, [9]string{again, again, "", again, string(Charged), string(Cancelled), noCharge, string(Expired), ""}},
	{Charged, [9]string{again, again, "", again, string(Charged), charged, string(Charged), string(Lapsed), ""}},
	{Lapsed, [9]string{again, again, "", again, late, charged, string(Lapsed), "", ""}},
	{Cancelled, [9]string{void, void, "", void, void, void, noCharge, "", ""}},
	{Expired, [9]string{late, late, "", late, late, late, noCharge, "", ""}},
	{Terminated, [9]string{over, over, "", over, over, over, noCharge, "", ""}},
}

// next gives the state after e, which is s itself where e means nothing, or the reason against it.
func next(s State, e Event) (to State, reason string) {
	for _, line := range machine {
		if line.from != s {
			continue
		}
		for i, ev := range events() {
			if ev != e {
				continue
			}
			switch cell := line.to[i]; {
			case cell == "":
				return s, ""
			case cell[0] == '!':
				return s, cell[1:]
			default:
				return State(cell), ""
			}
		}
	}
	return s, payments.PaymentExpired
}
