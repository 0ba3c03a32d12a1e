package marks

import (
	"fmt"

	"posagent/store"
)

// EndRow is the journal's own record of its end.
type EndRow struct {
	There bool
	End   store.End
	Flags int64
	OK    bool // its MAC verifies
}

// Flags of an EndRow.
const (
	RowMarked   int64 = 1 << iota // a mark is durable beside the journal
	RowRestored                   // the journal was put here by a verb: the next start takes its generation on
)

// Evidence is what lies on the medium when a journal is opened.
type Evidence struct {
	Journal bool // there is a file with something in it
	Keyed   bool // its key is there; it was made to the end
	Row     EndRow
	Old     int64 // its generation in the old way, 0 = none
	Staged  bool  // restored in the old way
	Beside  int64 // the old counter beside it, -1 = none
	// Outlived is a file that only a journal makes here, and that outlives it; "" = there is none.
	Outlived string
	Mark     Reading
	Ours     bool   // the mark was written under the journal's key
	Keyless  bool   // for a reader without a key, which takes the mark's and the row's checksums for enough
	Box      Box    // what the box was known by that wrote the journal last; nil = not known
	Other    string // the marks by which the journal was last written on another box; "" = on this one, as far as is known
	Whole    bool   // the log that the mark says is being folded is there
}

// Verdict is what the evidence means.
type Verdict struct {
	Cut     string // why the journal ends too early; "" = it does not
	Missing bool   // there is none
	Adopt   bool   // a verb put the journal here: its generation is taken on
	Afresh  bool   // there is none, and a verb said so
}

// Judge compares a journal with its mark. It is pure.
func Judge(e Evidence) Verdict {
	m := e.Mark.Slot
	ended := e.Mark.OK && m.Flags&Ended != 0
	ending := e.Mark.OK && m.Flags&(Ended|Ending) != 0
	if !e.Journal {
		switch {
		case ending:
			return Verdict{Afresh: true}
		case e.Mark.OK:
			return Verdict{Missing: true, Cut: fmt.Sprintf("there is no journal where one of generation %d with %d commits was", m.End.Generation, m.End.Sequence)}
		case e.Mark.There:
			return Verdict{Missing: true, Cut: "there is no journal beside its mark"}
		case e.Beside >= 0:
			return Verdict{Missing: true, Cut: fmt.Sprintf("there is no journal where one of generation %d was", e.Beside)}
		case e.Outlived != "":
			return Verdict{Missing: true, Cut: "there is neither the journal nor a mark of it, and " + e.Outlived + " is of one that has run here"}
		}
		return Verdict{}
	}
	if !e.Row.There {
		return judgeOld(e, ended, ending)
	}
	switch row := e.Row; {
	case !row.OK && !e.Keyless:
		return Verdict{Cut: "the record of its last commit was changed"}
	case ended && row.End.Generation <= m.End.Generation:
		return Verdict{Cut: "it was removed by a reset, and a copy of it was put back"}
	case row.Flags&RowRestored != 0 && (!e.Mark.OK || row.End.Generation > m.End.Generation):
		return Verdict{Adopt: true}
	case e.Other != "" && row.Flags&RowRestored == 0:
		return Verdict{Cut: "it was last written on another box, with another " + e.Other}
	case row.Flags&RowMarked == 0:
		switch { // a mark is made when the row is durable, and claimed by the next commit
		case !e.Mark.OK || ending:
		case !e.Ours && !e.Keyless:
			return Verdict{Cut: fmt.Sprintf("the mark beside it is that of another journal, of generation %d", m.End.Generation)}
		case row.End.Generation != m.End.Generation, row.End.Sequence < m.End.Sequence:
			return Verdict{Cut: fmt.Sprintf("it ends at commit %d, and commit %d was made", row.End.Sequence, m.End.Sequence)}
		}
		return Verdict{Adopt: row.Flags&RowRestored != 0}
	case !e.Mark.There:
		return Verdict{Cut: "the mark beside it is missing"}
	case !e.Mark.OK: // a power cut may tear both slots; then the mark says nothing
		return Verdict{}
	case !e.Ours && !e.Keyless && !ending: // a reset that was broken off had no key
		return Verdict{Cut: fmt.Sprintf("the mark beside it is that of another journal, of generation %d", m.End.Generation)}
	case row.End.Generation != m.End.Generation:
		return Verdict{Cut: fmt.Sprintf("it is of generation %d where generation %d has run", row.End.Generation, m.End.Generation)}
	case row.End.Sequence < m.End.Sequence:
		return Verdict{Cut: fmt.Sprintf("it ends at commit %d, and commit %d was made", row.End.Sequence, m.End.Sequence)}
	case m.Fold != Folding{} && !e.Whole:
		return Verdict{Cut: fmt.Sprintf("it was being folded at about commit %d, and the log that was to be folded is gone or damaged", m.End.Sequence)}
	}
	return Verdict{Adopt: e.Row.Flags&RowRestored != 0}
}

// judgeOld judges a journal that does not record its end: one from before the mark, or one that a
// power cut kept from being made.
func judgeOld(e Evidence, ended, ending bool) Verdict {
	switch {
	case e.Staged:
		return Verdict{Adopt: true}
	case !e.Keyed && (!e.Mark.OK || ending): // nothing was in it yet
		return Verdict{Afresh: ended}
	case ended && e.Old > 0:
		return Verdict{Cut: "it was removed by a reset, and a copy of it was put back"}
	case e.Mark.OK && !ending: // a mark is made after the record that it repeats
		return Verdict{Cut: fmt.Sprintf("it does not know its end, and generation %d has run here", e.Mark.Slot.End.Generation)}
	case e.Beside < 0 && e.Old > 0 && !e.Mark.OK:
		return Verdict{Cut: fmt.Sprintf("it is of generation %d, and the counter beside it is missing", e.Old)}
	case e.Old < e.Beside:
		return Verdict{Cut: fmt.Sprintf("it is of generation %d where generation %d has run", e.Old, e.Beside)}
	}
	return Verdict{Afresh: ended}
}

// Err returns the verdict as a *store.CutError, nil where the journal is not cut.
func (v Verdict) Err(path string, mark Reading) error {
	if v.Cut == "" {
		return nil
	}
	return &store.CutError{Path: path, Why: v.Cut, Missing: v.Missing, Before: mark.Slot.End}
}
