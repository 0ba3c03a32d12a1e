package enrol

// State is how far an enrolment is.
type State string

// The states. Fresh has nothing; Keyed has a code and a key of its own; Issued has a certificate and a
// configuration; Configured has seen the configuration work; Confirmed is known to the service as the
// terminal.
const (
	Fresh      State = "FRESH"
	Keyed      State = "KEYED"
	Issued     State = "ISSUED"
	Configured State = "CONFIGURED"
	Confirmed  State = "CONFIRMED"
)

// States lists them in their order.
func States() []State { return []State{Fresh, Keyed, Issued, Configured, Confirmed} }

// Event moves an enrolment.
type Event string

// The events. Begin is a person's; Redeem, Try and Confirm are steps that ended well; Refuse is the
// service's last word.
const (
	Begin   Event = "begin"
	Redeem  Event = "redeem"
	Try     Event = "try"
	Confirm Event = "confirm"
	Refuse  Event = "refuse"
)

// Events lists them.
func Events() []Event { return []Event{Begin, Redeem, Try, Confirm, Refuse} }

// Next returns the state after an event; ok is false where the event does not happen there. A code may
// be begun again until the service has confirmed; what is confirmed is replaced by another enrolment,
// never changed.
func Next(from State, e Event) (to State, ok bool) {
	switch {
	case e == Begin && from != Confirmed:
		return Keyed, true
	case from == Keyed && e == Redeem:
		return Issued, true
	case from == Issued && e == Try:
		return Configured, true
	case from == Configured && e == Confirm:
		return Confirmed, true
	case e == Refuse && (from == Keyed || from == Issued || from == Configured):
		return Fresh, true
	}
	return from, false
}
