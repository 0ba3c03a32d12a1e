package outbox

import (
	"errors"
	"time"

	"posagent/schemes/wire"
)

// busyPause is the least pause before a service that is busy with a Key is asked again.
const busyPause = 5 * time.Second

// FromError is the verdict on an attempt that failed with err, for adapters. It never fails an
// operation on 401, 403, 404 without the service's own body, 408, 425, 429 or 5xx: those leave it
// PENDING when nothing can have happened and SENT when it is not known: a 401 or 403 without the
// service's own body may stand in the place of an answer. Only a refusal by the
// service itself fails it, and no 409 that is not ours to a write under a Key; with a Replay other than SameKey and Safe that holds for the first
// attempt only, as the refusal may be due to an effect of the earlier one.
func FromError(op Op, replay Replay, err error) Verdict {
	v := Verdict{State: Sent, Reason: err.Error()}
	var e *wire.Error
	if errors.As(err, &e) {
		v.After = max(e.RetryAfter, 0)
	}
	if may, _ := wire.MayRun(err); may { // the first request under the Key may still run: asked again under it
		v.Reach, v.After = Reached, max(v.After, busyPause)
		return v
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
		v.Reach = Refused
		if !e.Nobody { // else a proxy may have put it in the place of the answer
			v.State = Pending
		}
	case wire.Unavailable:
		v.State, v.Reach = Pending, Unreachable
	case wire.TooMany, wire.UnknownOutcome:
		v.Reach = Unreachable
	case wire.Internal:
		v.Reach = Reached
	}
	return v
}
