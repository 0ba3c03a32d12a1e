package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"posagent/agent/lifecycle/enrol"
	"posagent/agent/records/history"
	"posagent/cmd/usage"
)

// enrolmentChanged is what is told of the enrolment; the cause says which of its changes it was.
const enrolmentChanged = "enrolment"

// withEnrolment puts what happened to the enrolment since a moment among the journal's entries, and leaves the newest limit. Whoever may not
// read the enrolment is told the rest.
func withEnrolment(c *call, list []history.Entry, since time.Time, limit int) []history.Entry {
	changes, err := enrolment(c).History()
	if err != nil {
		fmt.Fprintf(c.err, "what happened to the enrolment is not listed: %v\n", err)
		return list
	}
	for n, change := range changes {
		at, err := time.Parse(time.RFC3339, change.At)
		if err != nil || at.Before(since) {
			continue
		}
		// The journal keeps its own order, whatever the clock did: a change stands before the first entry that is younger.
		i := slices.IndexFunc(list, func(e history.Entry) bool { return e.What != enrolmentChanged && e.At.After(at) })
		if i < 0 {
			i = len(list)
		}
		list = slices.Insert(list, i, history.Entry{At: at, What: enrolmentChanged, Cause: change.What, Text: changeText(change) + changeRemedy(c, change, n == len(changes)-1)})
	}
	return list[max(0, len(list)-limit):]
}

// changeRemedy is what a person does about the newest change of the enrolment, where something has to be done.
func changeRemedy(c *call, e enrol.Entry, newest bool) string {
	if !newest {
		return ""
	}
	switch e.What {
	case enrol.Revoked:
		return ". The box ends what is open and sells nothing more. Ask the backend's operator why; with a new code, posagent enroll" + c.flags() +
			" CODE makes it a terminal again"
	case enrol.RefusedCode:
		return ". Ask the backend's operator for a new code, then posagent enroll" + c.flags() + " CODE"
	}
	return ""
}

// changeText is a change of the enrolment for a person.
func changeText(e enrol.Entry) string {
	words := strings.Map(func(r rune) rune { // the service's own
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, e.Text)
	switch e.What {
	case enrol.Enrolled:
		return fmt.Sprintf("enrolled: %s, with revision %d", words, e.Revision)
	case enrol.TakenFromBundle:
		return fmt.Sprintf("a bundle was taken up, with revision %d", e.Revision)
	case enrol.TakenUp:
		return fmt.Sprintf("revision %d was taken up", e.Revision)
	case enrol.GivenUp:
		return fmt.Sprintf("revision %d was given up for revision %d: %s", e.Revision, e.To, cmp.Or(words, "the terminal was not ready with it"))
	case enrol.Chosen:
		return fmt.Sprintf("revision %d was chosen in the place of revision %d, by a person", e.To, e.Revision)
	case enrol.Renewed:
		return "the certificate was renewed: until " + usage.LocalTime(words)
	case enrol.RefusedCode:
		return "a code was refused: " + words
	case enrol.Revoked:
		return "the backend's operator took the terminal away from this box (its enrolment was revoked): " + words
	}
	return strings.TrimSpace(e.What + " " + words)
}
