package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"posagent/store"
)

// evidence is what lies on the medium when a journal is opened.
type evidence struct {
	journal bool // there is a file with something in it
	keyed   bool // its key is there; it was made to the end
	row     endRow
	old     int64 // its generation in the old way, 0 = none
	staged  bool  // restored in the old way
	beside  int64 // the old counter beside it, -1 = none
	mark    reading
	ours    bool // the mark was written under the journal's key
	keyless bool // for a reader without a key, which takes the mark's and the row's checksums for enough
	whole   bool // the log that the mark says is being folded is there
}

// verdict is what the evidence means.
type verdict struct {
	cut     string // why the journal ends too early; "" = it does not
	missing bool   // there is none
	adopt   bool   // a verb put the journal here: its generation is taken on
	afresh  bool   // there is none, and a verb said so
}

// judge compares a journal with its mark. It is pure.
func judge(e evidence) verdict {
	m := e.mark.slot
	ended := e.mark.ok && m.flags&flagEnded != 0
	ending := e.mark.ok && m.flags&(flagEnded|flagEnding) != 0
	if !e.journal {
		switch {
		case ending:
			return verdict{afresh: true}
		case e.mark.ok:
			return verdict{missing: true, cut: fmt.Sprintf("there is no journal where one of generation %d with %d commits was", m.end.Generation, m.end.Sequence)}
		case e.mark.there:
			return verdict{missing: true, cut: "there is no journal beside its mark"}
		case e.beside >= 0:
			return verdict{missing: true, cut: fmt.Sprintf("there is no journal where one of generation %d was", e.beside)}
		}
		return verdict{}
	}
	if !e.row.there {
		return judgeOld(e, ended, ending)
	}
	switch row := e.row; {
	case !row.ok && !e.keyless:
		return verdict{cut: "the record of its last commit was changed"}
	case ended && row.end.Generation <= m.end.Generation:
		return verdict{cut: "it was removed by a reset, and a copy of it was put back"}
	case row.flags&rowRestored != 0 && (!e.mark.ok || row.end.Generation > m.end.Generation):
		return verdict{adopt: true}
	case row.flags&rowMarked == 0:
		switch { // a mark is made when the row is durable, and claimed by the next commit
		case !e.mark.ok || ending:
		case !e.ours && !e.keyless:
			return verdict{cut: fmt.Sprintf("the mark beside it is that of another journal, of generation %d", m.end.Generation)}
		case row.end.Generation != m.end.Generation, row.end.Sequence < m.end.Sequence:
			return verdict{cut: fmt.Sprintf("it ends at commit %d, and commit %d was made", row.end.Sequence, m.end.Sequence)}
		}
		return verdict{adopt: row.flags&rowRestored != 0}
	case !e.mark.there:
		return verdict{cut: "the mark beside it is missing"}
	case !e.mark.ok: // a power cut may tear both slots; then the mark says nothing
		return verdict{}
	case !e.ours && !e.keyless && !ending: // a reset that was broken off had no key
		return verdict{cut: fmt.Sprintf("the mark beside it is that of another journal, of generation %d", m.end.Generation)}
	case row.end.Generation != m.end.Generation:
		return verdict{cut: fmt.Sprintf("it is of generation %d where generation %d has run", row.end.Generation, m.end.Generation)}
	case row.end.Sequence < m.end.Sequence:
		return verdict{cut: fmt.Sprintf("it ends at commit %d, and commit %d was made", row.end.Sequence, m.end.Sequence)}
	case m.fold != folding{} && !e.whole:
		return verdict{cut: fmt.Sprintf("it was being folded at about commit %d, and the log that was to be folded is gone or damaged", m.end.Sequence)}
	}
	return verdict{adopt: e.row.flags&rowRestored != 0}
}

// judgeOld judges a journal that does not record its end: one from before the mark, or one that a power cut kept from being made.
func judgeOld(e evidence, ended, ending bool) verdict {
	switch {
	case e.staged:
		return verdict{adopt: true}
	case !e.keyed && (!e.mark.ok || ending): // nothing was in it yet
		return verdict{afresh: ended}
	case ended && e.old > 0:
		return verdict{cut: "it was removed by a reset, and a copy of it was put back"}
	case e.mark.ok && !ending: // a mark is made after the record that it repeats
		return verdict{cut: fmt.Sprintf("it does not know its end, and generation %d has run here", e.mark.slot.end.Generation)}
	case e.beside < 0 && e.old > 0 && !e.mark.ok:
		return verdict{cut: fmt.Sprintf("it is of generation %d, and the counter beside it is missing", e.old)}
	case e.old < e.beside:
		return verdict{cut: fmt.Sprintf("it is of generation %d where generation %d has run", e.old, e.beside)}
	}
	return verdict{afresh: ended}
}

// size is that of the file at path, 0 where there is none.
func size(path string) (int64, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// evidence collects what lies on the medium of a journal that is open; its key is known to s by then, or never.
func (s *Store) evidence(ctx context.Context, q queryer, mark reading) (e evidence, err error) {
	e = evidence{journal: true, mark: mark, keyless: s.opt.Wrapper == nil}
	if e.beside, err = readGeneration(generationPath(s.opt.Path)); err != nil {
		return e, err
	}
	meta, err := hasTable(ctx, q, "store_meta")
	if err != nil {
		return e, classify(err)
	}
	if meta {
		var key, staged int
		err := q.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE name = 'mac_key'), count(*) FILTER (WHERE name = ?) FROM store_meta", metaRestored).Scan(&key, &staged)
		if err != nil {
			return e, classify(err)
		}
		e.keyed, e.staged = key > 0, staged > 0
	}
	if e.old, err = oldGeneration(ctx, q); err != nil {
		return e, err
	}
	if e.row, err = s.readEnd(ctx, q); err != nil {
		return e, err
	}
	e.ours = s.mac != nil && mark.verifies(s.markMAC)
	e.whole = mark.slot.fold == folding{} || mark.slot.fold.holds(s.opt.Path)
	return e, nil
}

// markMAC authenticates the first part of a slot.
func (s *Store) markMAC(b []byte) []byte { return s.MAC("store_mark", "", b) }

// missing judges a journal that is not there, before anything is made in its place.
func missing(path string, mark reading) (verdict, error) {
	n, err := size(path)
	if err != nil || n > 0 {
		return verdict{}, err
	}
	beside := int64(-1)
	if _, err := os.Lstat(generationPath(path)); err == nil {
		if beside, err = readGeneration(generationPath(path)); err != nil {
			return verdict{}, err
		}
		beside = max(beside, 0)
	}
	return judge(evidence{mark: mark, beside: beside}), nil
}

func (v verdict) err(path string, mark reading) error {
	if v.cut == "" {
		return nil
	}
	return &store.CutError{Path: path, Why: v.cut, Missing: v.missing, Before: mark.slot.end}
}
