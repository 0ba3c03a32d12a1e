package replacedjournal

import (
	"fmt"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// What a person or a client can do about a thing that a lost journal may have made.
const (
	RepeatWrite  = "repeat its write under its Idempotency-Key, and the backend answers what became of it; without a key compare the backend's portal"
	AskPortal    = "compare the backend's portal before it is done again"
	AskReference = "compare the backend's portal for terminalReference %s before it is done again"
)

// Text returns a sentence for a thing that the journal of r does not have and a lost one may have made: when this journal took
// that one's place, and the remedy. "" = the journal took no other's place.
func Text(r store.Reader, remedy string) (string, error) {
	l, ok, err := store.LostIn(r)
	if err != nil || !ok {
		return "", err
	}
	if l.Kind == store.WasLocked && remedy == RepeatWrite { // the client's key makes another key for the backend now
		remedy = AskPortal
	}
	return fmt.Sprintf("not in this journal, which took the place of another on %s (generation %d) and does not hold what that one did last: %s",
		time.UnixMilli(l.AtMS).UTC().Format(time.DateOnly), l.Generation, remedy), nil
}

// NotFound returns wire.NotFound with a text of its own, or wire.UnknownOutcome with Text where a lost journal may have made what
// was asked for. Its error is that of reading the journal otherwise.
func NotFound(r store.Reader, op, remedy, format string, args ...any) error {
	text, err := Text(r, remedy)
	switch {
	case err != nil:
		return err
	case text == "":
		return wire.Errorf(wire.NotFound, op, format, args...)
	}
	return wire.Errorf(wire.UnknownOutcome, op, "%s", text)
}
