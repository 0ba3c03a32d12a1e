package main

import (
	"context"
	"errors"
	"strings"

	"posagent/agent/lifecycle/enrol"
	"posagent/agent/ready"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// fleetRefused gives an error of the enrolment its exit code and its remedy.
func fleetRefused(c *call, err error) error {
	var coded *exit
	var refused *enrol.RefusedError
	switch {
	case err == nil, errors.As(err, &coded), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, enrol.ErrNone):
		return fail(exitNotEnrolled, "this terminal is not enrolled (posagent enroll CODE --url URL, with the code of the backend's operator)")
	case errors.Is(err, enrol.ErrBusy):
		return fail(exitRefused, "another program is at work on this enrolment (wait some seconds; the running terminal goes on with it by itself)")
	case errors.Is(err, enrol.ErrDamaged):
		return unreadEnrolment(c, err)
	case errors.Is(err, enrol.ErrUntrusted):
		why, _ := untrusted(err)
		return fail(exitAuth, "%w: %s (compare with the operator's screen; posagent enroll%s CODE --url URL --fingerprint F goes on with the right one, the same command without --fingerprint compares none)",
			enrol.ErrUntrusted, why, c.flags())
	case errors.As(err, &refused) && wire.ReasonOf(err) == fleet.CodeNotGood:
		return fail(exitAuth, "%w (this box is %s; ask the operator for a new code)", err, serialOf(c))
	case errors.As(err, &refused) && wire.ReasonOf(err) == fleet.CodeTaken:
		return fail(exitAuth, "%w (this box is %s; ask the operator for a new code: posagent backend fleet list shows which box has this one, and fleet revoke takes it back)", err, serialOf(c))
	case errors.As(err, &refused):
		return fail(exitAuth, "%w (ask the operator for a new code)", err)
	}
	switch wire.CodeOf(err) {
	case wire.Unavailable, wire.UnknownOutcome, wire.Internal:
		if said := operatorSaid(c); said != nil {
			return fail(exitNoBackend, "%s (%s; nothing is lost: then posagent enroll%s goes on with it, and so does the running terminal)", said.Words, said.Remedy, c.flags())
		}
		return fail(exitNoBackend, "%w (nothing is lost: posagent enroll goes on with it, and so does the running terminal)", err)
	case wire.TooMany:
		return fail(exitAuth, "%w", err)
	case wire.Unauthorized:
		return fail(exitAuth, "%w (is the clock right? date -u)", err)
	}
	return fail(exitFailed, "%w", err)
}

// operatorSaid is what the way to the operator's service suffers, as who types --url mends it; nil where it is well or was not used.
func operatorSaid(c *call) *ready.Said {
	if c.way == nil {
		return nil
	}
	t := trouble(c.way)
	if t == nil {
		return nil
	}
	place := placeOf(c)
	place.Base = "--url"
	said := ready.Say(*t, place)
	return &said
}

// untrusted returns what was seen of a service that is not the one whose fingerprint was given.
func untrusted(err error) (why string, yes bool) {
	if !errors.Is(err, enrol.ErrUntrusted) {
		return "", false
	}
	return strings.TrimPrefix(err.Error(), enrol.ErrUntrusted.Error()+": "), true
}

// shortly is an error without its remedy.
func shortly(err error) string {
	var coded *exit
	if errors.As(err, &coded) {
		text, _, _ := strings.Cut(coded.Error(), " (")
		return text
	}
	return plainReason(err)
}
