package fleet

// State is where an enrolment stands.
type State string

// The states. Fresh is a code that no device has shown; Redeemed has a device with a certificate; a
// Confirmed one has burned its code. Revoked and Expired are final.
const (
	Fresh     State = "FRESH"
	Redeemed  State = "REDEEMED"
	Confirmed State = "CONFIRMED"
	Revoked   State = "REVOKED"
	Expired   State = "EXPIRED"
)

// States lists them.
func States() []State { return []State{Fresh, Redeemed, Confirmed, Revoked, Expired} }

// Event moves an enrolment.
type Event string

// The events. Redeem and Confirm are the device's, Revoke is the operator's or that of a successor,
// Expire is time's.
const (
	Redeem  Event = "redeem"
	Confirm Event = "confirm"
	Revoke  Event = "revoke"
	Expire  Event = "expire"
)

// Events lists them.
func Events() []Event { return []Event{Redeem, Confirm, Revoke, Expire} }

// Next returns the state after an event; ok is false where the event is refused. A device that lost a
// reply redeems again while its code is not burned, and confirms again for ever. Time ends a code that
// no device has shown; it takes no certificate away.
func Next(from State, e Event) (to State, ok bool) {
	switch {
	case from == Fresh && e == Redeem, from == Redeemed && e == Redeem:
		return Redeemed, true
	case from == Redeemed && e == Confirm, from == Confirmed && e == Confirm:
		return Confirmed, true
	case e == Revoke && from != Expired:
		return Revoked, true
	case from == Fresh && e == Expire, from == Expired && e == Expire:
		return Expired, true
	case e == Expire:
		return from, true
	}
	return from, false
}
