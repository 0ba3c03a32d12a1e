package fleet

import (
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// MaxHolds is how many versions are held at once, at most.
const MaxHolds = 50

// ReportRequest says which program a terminal runs, and how its last update ended. Write it with wire.Encode.
type ReportRequest struct {
	Version string  `json:"version" wire:"required"`
	Update  Outcome `json:"update,omitzero"` // absent = no update of the program has ended here

	Configuration Applied `json:"configuration,omitzero"` // absent = the terminal's program is from before roll-outs of settings
}

// Outcome is how an update of a terminal's program ended.
type Outcome struct {
	Version string `json:"version" wire:"required"` // that was tried
	Kept    bool   `json:"kept" wire:"required"`    // false = it was taken back
	Reason  string `json:"reason,omitempty"`        // why it was taken back: printable ASCII, no card number
	At      string `json:"at" wire:"required"`      // RFC 3339, by the terminal's clock
}

// ReportReply answers it: the versions that the terminal must not take by itself.
type ReportReply struct {
	Held []Hold `json:"held" wire:"required"` // up to MaxHolds, the newest first
}

// Hold is a version that is held, with the boxes it is held for.
type Hold struct {
	Version   string `json:"version" wire:"required"`
	TakenBack int32  `json:"takenBack" wire:"required"` // boxes
	Tried     int32  `json:"tried" wire:"required"`     // boxes; those that took it back are among them
}

// Rollout is what has become of a version on the boxes, for the operator. The boxes are those since it was lifted last.
type Rollout struct {
	Version   string `json:"version" wire:"required"`
	Kept      int32  `json:"kept" wire:"required"`
	TakenBack int32  `json:"takenBack" wire:"required"`
	HeldAt    string `json:"heldAt,omitempty"`   // RFC 3339, since when it is held; "" = it is not
	LiftedAt  string `json:"liftedAt,omitempty"` // RFC 3339, when its hold was lifted; "" = it is held, or never was
}

// VersionsReply lists the newest hundred versions, the one reported last first.
type VersionsReply struct {
	Versions []Rollout `json:"versions" wire:"required"`
}

// LiftRequest ends the hold of a version.
type LiftRequest struct {
	Version string `json:"version" wire:"required"`
}

// Check implements check.Checked.
func (r ReportRequest) Check(l *check.List) {
	version(l, "version", r.Version)
	if r.Update != (Outcome{}) {
		r.Update.check(l)
	}
	if r.Configuration != (Applied{}) {
		r.Configuration.check(l)
	}
}

// Sound returns whether an outcome can be reported.
func (o Outcome) Sound() bool {
	var l check.List
	o.check(&l)
	return l.Len() == 0
}

func (o Outcome) check(l *check.List) {
	version(l, "update.version", o.Version)
	reason(l, "update.reason", o.Reason)
	if len(o.At) > maxName || !moment(o.At) {
		l.Add("update.at", "want a moment as in 2026-11-23T10:00:00Z")
	}
}

// reason refuses what a terminal must not give as one.
func reason(l *check.List, at, s string) {
	if len(s) > maxReason || !printable(s) || wire.MaskPANs(s) != s {
		l.Add(at, "longer than "+strconv.Itoa(maxReason)+" bytes, not printable ASCII, or with a card number")
	}
}

// Reason returns a text as a terminal may give it as a reason: a technician may have typed it, or a configuration may hold it.
func Reason(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, s)
	s = wire.MaskPANs(s) // before it is cut: a part of a card number has no check digit
	return s[:min(len(s), maxReason)]
}

// Check implements check.Checked.
func (r LiftRequest) Check(l *check.List) { version(l, "version", r.Version) }

func version(l *check.List, at, s string) {
	if !isVersion(s) {
		l.Add(at, "want 1 to "+strconv.Itoa(maxName)+" printable characters of ASCII")
	}
}

// isVersion returns whether a text can be the version of a program.
func isVersion(s string) bool { return s != "" && len(s) <= maxName && printable(s) }

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// Flaw says what a reply must not be: one with too many holds, or with one that holds nothing.
func (r ReportReply) Flaw() string {
	if len(r.Held) > MaxHolds {
		return "reply holds too many versions"
	}
	for _, h := range r.Held {
		if !isVersion(h.Version) || h.TakenBack < 0 || h.Tried < h.TakenBack {
			return "reply holds no version"
		}
	}
	return ""
}
