package fleet

import (
	"slices"
	"strconv"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// RollState is where a roll-out of settings stands.
type RollState string

// The states. Running gives the settings to one stage after the other; Paused gives them to no terminal; Done has reached enough
// of all; Back takes them back, or has. Back is final.
const (
	Running RollState = "RUNNING"
	Paused  RollState = "PAUSED"
	Done    RollState = "DONE"
	Back    RollState = "BACK"
)

// RollStates lists them.
func RollStates() []RollState { return []RollState{Running, Paused, Done, Back} }

// Move moves a roll-out.
type Move string

// The moves. Pause is the operator's or that of failures, Resume and TakeBack are the operator's, Finish is that of the last stage.
const (
	Pause    Move = "pause"
	Resume   Move = "resume"
	TakeBack Move = "back"
	Finish   Move = "finish"
)

// Moves lists them.
func Moves() []Move { return []Move{Pause, Resume, TakeBack, Finish} }

// NextRoll returns the state after a move; ok is false where the move is refused. A roll-out that runs is resumed, too: its failures are counted anew.
func NextRoll(from RollState, m Move) (to RollState, ok bool) {
	open := from == Running || from == Paused
	switch {
	case open && m == Pause:
		return Paused, true
	case open && m == Resume:
		return Running, true
	case m == TakeBack && slices.Contains(RollStates(), from):
		return Back, true
	case from == Running && m == Finish:
		return Done, true
	}
	return from, false
}

// Roll is a change of the terminals' configuration that goes out in stages. Times are RFC 3339, "" = not yet. The terminals are
// those that were enrolled when it began.
type Roll struct {
	ID       string    `json:"id" wire:"required"`
	State    RollState `json:"state" wire:"required"`
	Reason   string    `json:"reason,omitempty"` // why it is paused
	Settings []Setting `json:"settings" wire:"required"`
	Stages   []int32   `json:"stages" wire:"required"` // hundredths of the terminals
	Stage    int32     `json:"stage" wire:"required"`  // the present one, from 1

	Enough         int32 `json:"enough" wire:"required"`         // hundredths of a stage that have to be healthy
	SoakSeconds    int32 `json:"soakSeconds" wire:"required"`    // for which a terminal has to report health
	SilenceSeconds int32 `json:"silenceSeconds" wire:"required"` // after which a terminal that took it is a failure

	Boxes   int32 `json:"boxes" wire:"required"`   // terminals of all stages
	Given   int32 `json:"given" wire:"required"`   // a revision with the settings
	Taken   int32 `json:"taken" wire:"required"`   // and they work with it
	Healthy int32 `json:"healthy" wire:"required"` // and reported health for the time of the soak
	Failed  int32 `json:"failed" wire:"required"`  // refused it, or went back
	Silent  int32 `json:"silent" wire:"required"`  // took it, and did not report since
	Back    int32 `json:"back" wire:"required"`    // were given the settings of before

	StartedAt string `json:"startedAt" wire:"required"`
	StageAt   string `json:"stageAt" wire:"required"` // when the present stage began
	EndedAt   string `json:"endedAt,omitempty"`       // when enough of all had it, or all were given what they had before
}

// RollsReply lists the newest twenty roll-outs, the newest first.
type RollsReply struct {
	Rolls []Roll `json:"rolls" wire:"required"`
}

// StartRequest begins a roll-out.
type StartRequest struct {
	Settings       []Setting `json:"settings" wire:"required"`
	Stages         []int32   `json:"stages,omitempty"`         // none = 1, 10, 50, 100
	Enough         int32     `json:"enough,omitempty"`         // 0 = 90
	SoakSeconds    int32     `json:"soakSeconds,omitempty"`    // 60 to MaxTTL; 0 = half an hour
	SilenceSeconds int32     `json:"silenceSeconds,omitempty"` // 300 to MaxTTL; 0 = an hour
}

// MoveRequest pauses a roll-out, resumes it, or takes it back.
type MoveRequest struct {
	ID   string `path:"rollId" json:"-"`
	Move Move   `json:"move" wire:"required"` // Pause, Resume or TakeBack
}

// Defaults returns the request with what its fields of the value zero stand for.
func (r StartRequest) Defaults() StartRequest {
	if len(r.Stages) == 0 {
		r.Stages = []int32{1, 10, 50, 100}
	}
	for _, d := range []struct {
		at  *int32
		def int32
	}{{&r.Enough, 90}, {&r.SoakSeconds, 1800}, {&r.SilenceSeconds, 3600}} {
		if *d.at == 0 {
			*d.at = d.def
		}
	}
	return r
}

// Check implements check.Checked.
func (r StartRequest) Check(l *check.List) {
	settings(l, r.Settings)
	r = r.Defaults()
	last := int32(0)
	for _, s := range r.Stages {
		if s <= last {
			last = 101
			break
		}
		last = s
	}
	if last != 100 || len(r.Stages) > 10 {
		l.Add("stages", "want up to 10 rising numbers from 1, the last one 100")
	}
	for _, n := range []struct {
		at              string
		is, least, most int32
	}{{"enough", r.Enough, 1, 100}, {"soakSeconds", r.SoakSeconds, 60, MaxTTL}, {"silenceSeconds", r.SilenceSeconds, 300, MaxTTL}} {
		if n.is < n.least || n.is > n.most {
			l.Add(n.at, "want "+strconv.Itoa(int(n.least))+" to "+strconv.Itoa(int(n.most)))
		}
	}
}

// Check implements check.Checked.
func (r MoveRequest) Check(l *check.List) {
	if !slices.Contains(Moves()[:3], r.Move) {
		l.Add("move", "want pause, resume or back")
	}
}

// Flaw says what a reply must not be: a roll-out without a name, a known state or a stage.
func (r Roll) Flaw() string {
	if !wire.PathWord(r.ID, maxName) || !slices.Contains(RollStates(), r.State) || r.Stage < 1 || int(r.Stage) > len(r.Stages) {
		return "reply names no roll-out"
	}
	return ""
}

// Applied is which configuration a terminal works with.
type Applied struct {
	Revision int64  `json:"revision" wire:"required"`
	Proven   bool   `json:"proven" wire:"required"` // it has made the terminal ready
	Refused  int64  `json:"refused,omitempty"`      // a newer one that it does not work with, or has given up; 0 = none
	Reason   string `json:"reason,omitempty"`       // why: printable ASCII, no card number
}

func (a Applied) check(l *check.List) {
	if a.Revision < 1 || a.Refused < 0 {
		l.Add("configuration.revision", "want whole numbers from 1")
	}
	reason(l, "configuration.reason", a.Reason)
}
