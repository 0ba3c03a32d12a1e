package outbox

import (
	"errors"

	"posagent/schemes/wire"
)

// FromError is the verdict on an attempt that failed with err, for adapters. It never fails an
// operation on 401, 403, 404 without the service's own body, 408, 425, 429 or 5xx: those leave it
// PENDING when nothing can have happened and SENT when it is not known. Only a refusal by the
// service itself fails it; with a Replay other than SameKey and Safe that holds for the first
// attempt only, as the refusal may be due to an effect of the earlier one.
func FromError(op Op, replay Replay, err error) Verdict {
	v := Verdict{State: Sent, Reason: err.Error()}
	var e *wire.Error
	if errors.As(err, &e) {
		v.After = max(e.RetryAfter, 0)
	}
	switch wire.CodeOf(err) {
	case wire.Invalid, wire.Conflict, wire.NotFound, wire.TooLarge:
		v.State, v.Reach, v.After = Failed, Reached, 0
		if op.State == Sent && replay != SameKey && replay != Safe {
			v.State = Doubt
		}
	case wire.KeyReused, wire.Gone: // something else went out under our Key, or its answer is forgotten: no proof of anything
		v.State, v.Reach, v.After = Doubt, Reached, 0
	case wire.Unauthorized, wire.Forbidden:
		v.State, v.Reach = Pending, Refused
	case wire.Unavailable:
		v.State, v.Reach = Pending, Unreachable
	case wire.TooMany, wire.UnknownOutcome:
		v.Reach = Unreachable
	case wire.Internal:
		v.Reach = Reached
	}
	return v
}
