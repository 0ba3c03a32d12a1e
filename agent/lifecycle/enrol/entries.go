package enrol

import "time"

// What happened to an enrolment.
const (
	Enrolled        = "enrolled"
	TakenFromBundle = "bundle_taken_up"
	TakenUp         = "revision_taken_up"
	GivenUp         = "revision_given_up"
	Chosen          = "revision_chosen" // by a person
	Renewed         = "certificate_renewed"
	RefusedCode     = "code_refused"
	Revoked         = "revoked"
)

// Entry is something that happened to the enrolment. It holds no secret; Text may be the service's own words.
type Entry struct {
	At       string `json:"at"` // RFC 3339
	What     string `json:"what"`
	Revision int64  `json:"revision,omitempty"` // that it is about, 0 = none
	To       int64  `json:"to,omitempty"`       // the one in use since, where that is another
	Text     string `json:"text,omitempty"`
}

const (
	keptEntries = 100
	longestText = 500 // bytes of the service's words
)

// note adds an entry, in the same write as what it tells of.
func (r *record) note(now time.Time, e Entry) {
	e.At = now.UTC().Format("2006-01-02T15:04:05.000Z07:00") // several things happen in a second
	e.Text = e.Text[:min(len(e.Text), longestText)]
	r.Entries = append(r.Entries, e)
	if n := len(r.Entries) - keptEntries; n > 0 {
		r.Entries = r.Entries[n:]
	}
}

// revoke notes the service's words on a device that it has revoked, once.
func (r *record) revoke(now time.Time, words string) {
	if r.Now.Revoked == "" {
		r.note(now, Entry{What: Revoked, Text: words})
	}
	r.Now.Revoked = words
}

// History lists what happened to the enrolment, the oldest first.
func (b *Box) History() ([]Entry, error) {
	r, err := b.read()
	return r.Entries, err
}
