package gateway

import (
	"fmt"
	"math"
	"slices"

	"posagent/agent/outbox"
	"posagent/agent/records/replacedjournal"
	"posagent/schemes/wire"
	"posagent/store"
)

// keyed says that a service honours Keys. That of the payment links never does: the contract knows none.
func (f *Front) keyed(service string) bool {
	return service != Paylinks && !slices.Contains(f.o.Keyless, service)
}

// mayRepeat says why a write under a client's key may be a repeat of what a journal before this one has sent, and the backend would not
// know it by our Key; "" = it is none, or the backend knows it. Then a person releases it first (MONEY C.8).
func (f *Front) mayRepeat(r store.Reader, w *write, known bool) (why string, err error) {
	changed := int64(-1)
	if known {
		if changed, err = sinceWhen(r, stepCanonical, "canonical", math.MaxInt64); err != nil { // on trial a restored journal holds it
			return "", keyError(err)
		}
	}
	why, err = f.box.Forgotten(r, f.keyed(w.row.Service), changed)
	if why != "" || err != nil || w.row.Makes || known || !f.makes(w.row.Thing) {
		return why, err
	}
	past, err := outbox.Past(r)
	if past == "" && err == nil {
		past, err = outbox.Replaced(r)
	}
	if past == "" || err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: the journal before it may have made %s %s and sent this under another key", past, w.row.Thing, wire.MaskPANs(w.id)), nil
}

// makes says that things of a kind are made here.
func (f *Front) makes(about string) bool {
	for _, b := range f.rows {
		if b.Makes && b.Thing == about {
			return true
		}
	}
	return false
}

// lost is the answer to an id that the journal does not know: NotFound with a text of its own, or UnknownOutcome where a journal before
// it may have known it. To repeat its write is advised only where that can make nothing twice: the service honours Keys and still has it,
// and repeats are still held where it may not.
func (f *Front) lost(r store.Reader, op, about, format string, args ...any) error {
	remedy, err := f.remedy(r, about)
	if err != nil {
		return err
	}
	return replacedjournal.NotFound(r, op, remedy, format, args...)
}

func (f *Front) remedy(r store.Reader, about string) (string, error) {
	for _, b := range f.rows {
		if b.Thing != about || f.box == nil {
			continue
		}
		if !f.keyed(b.Service) {
			return replacedjournal.AskPortal, nil
		}
		why, err := f.box.Forgotten(r, true, -1)
		if why != "" || err != nil {
			return replacedjournal.AskPortal, err
		}
		if held, err := outbox.Past(r); held == "" || err != nil { // a person has released them
			return replacedjournal.AskPortal, err
		}
	}
	return replacedjournal.RepeatWrite, nil
}
