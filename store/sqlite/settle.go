package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posagent/store"
)

// sighting is what a start has found out about the journal and its marks.
type sighting struct {
	marks   []reading
	mark    reading // the newest of them
	turn    uint64
	verdict verdict
	evidence
}

// lookForMarks reads the marks, and judges a journal that is not there before one is made. It answers *CutError.
func (s *Store) lookForMarks(seen *sighting) error {
	if len(s.opt.Marks) == 0 {
		if s.opt.Accept != "" {
			return store.ErrNotCut
		}
		return nil
	}
	s.marks = newMarks(s.opt.Marks, s.opt.OpenMark)
	s.marks.mac = s.markMAC
	seen.marks = s.marks.read()
	seen.mark = found(seen.marks)
	for _, r := range seen.marks {
		seen.turn = max(seen.turn, r.slot.turn)
	}
	if seen.mark.err != nil {
		s.log.Warn("a mark of the journal cannot be read", "err", seen.mark.err)
		if seen.marks[0].err != nil && !seen.mark.ok {
			return fmt.Errorf("mark %s: %w", s.opt.Marks[0], seen.marks[0].err)
		}
	}
	v, err := missing(s.opt.Path, seen.mark)
	if err == nil {
		err = v.err(s.opt.Path, seen.mark)
	}
	seen.verdict = v
	return err
}

// compare judges the journal by its marks before anything in it is changed. It answers *CutError, or ErrNotCut.
func (s *Store) compare(ctx context.Context, seen *sighting) error {
	if s.marks == nil {
		return nil
	}
	if there, err := hasTable(ctx, s.w.conn, "store_meta"); err != nil {
		return classify(err)
	} else if there {
		t := &scope{l: s.w}
		key, err := readMACKey(t, s.opt.Wrapper)
		if err = errors.Join(notNoRows(err), t.end()); err != nil {
			return classify(err)
		}
		s.mac = key
	}
	afresh := seen.verdict.afresh
	e, err := s.evidence(ctx, s.w.conn, seen.mark)
	if err != nil {
		return err
	}
	seen.evidence, seen.verdict = e, judge(e)
	seen.verdict.afresh = seen.verdict.afresh || afresh
	cut := seen.verdict.err(s.opt.Path, seen.mark)
	switch {
	case s.opt.Accept == "":
		return cut
	case cut == nil:
		return store.ErrNotCut
	}
	return checkFile(ctx, s.w.conn, "quick_check")
}

// leaveAlone closes the writer's connection without folding the log into the file: another is the last to go, and it only reads.
func (s *Store) leaveAlone(ctx context.Context) {
	set := s.set
	set.readOnly = true
	if r, err := openLink(context.WithoutCancel(ctx), set); err == nil {
		defer func() { _ = r.close() }()
	}
	_ = s.w.close()
	s.w = nil
}

// settle opens the journal's key, and begins or goes on with the record of its end. What is new in it is durable before a mark
// claims it, and a mark before the journal claims that.
func (s *Store) settle(ctx context.Context, seen sighting) (err error) {
	if s.mac, err = openMACKey(s.w, s.opt.Wrapper); err != nil {
		return err
	}
	if s.marks == nil { // a copy, or a file without marks; a record that is there goes on
		row, err := s.readEnd(ctx, s.w.conn)
		if row.ok {
			s.end, s.flags = row.end, row.flags
		}
		return err
	}
	row, mark, v := seen.row, seen.mark.slot, seen.verdict
	s.end, s.flags = row.end, row.flags
	before, fresh := s.before(seen), !row.there
	switch {
	case v.cut != "":
		s.end.Generation = max(row.end.Generation, mark.end.Generation, seen.old, seen.beside) + 1
		s.end.Sequence = max(row.end.Sequence, mark.end.Sequence)
		s.flags = rowRestored
	case fresh:
		s.end = store.End{Generation: max(mark.end.Generation, seen.old, seen.beside, 0) + 1}
		s.flags = 0
		if before.Kind != store.FirstGeneration {
			s.flags = rowRestored
		}
	}
	s.marks.cur = slot{turn: seen.turn, end: s.end}
	known := true
	if before.Kind != store.FirstGeneration {
		if known, err = s.knowsBefore(ctx); err != nil {
			return err
		}
	}
	if fresh || v.cut != "" || !known {
		if err := s.record(fresh, s.flags, &before); err != nil {
			return err
		}
	}
	if s.flags == rowMarked && seen.mark.ok && mark.flags == 0 && mark.fold == (folding{}) && s.allThere(seen.marks) {
		s.marks.cur.why = mark.why
		return nil
	}
	if err := s.marks.durably(func(c *slot) { *c = slot{turn: c.turn, end: s.end} }); err != nil {
		s.log.Error("the mark cannot be written: a journal that is cut would not be noticed", "err", err)
		return nil
	}
	s.warnOfMarks()
	if s.flags != rowMarked {
		if err := s.record(false, rowMarked, nil); err != nil {
			return err
		}
	}
	if seen.beside >= 0 { // the mark has taken its place
		return errors.Join(removeAll(generationPath(s.opt.Path)), syncDir(filepath.Dir(s.opt.Path)))
	}
	return nil
}

// before is what the journal must remember of the time before its new generation; none where it goes on.
func (s *Store) before(seen sighting) store.Before {
	mark, v := seen.mark.slot, seen.verdict
	switch {
	case v.cut != "":
		return store.Before{Kind: store.WasAccepted, Why: fmt.Sprintf("the journal was cut (%s) and accepted: %s", v.cut, s.opt.Accept), End: mark.end}
	case v.afresh && mark.flags&flagLost != 0:
		return store.Before{Kind: store.WasLost, Why: "the journal was lost and begun anew: " + mark.why, End: mark.end}
	case v.afresh:
		return store.Before{Kind: store.WasReset, Why: "reset", End: mark.end}
	case v.adopt:
		return store.Before{Kind: store.WasRestored, End: mark.end}
	}
	return store.Before{}
}

// knowsBefore reports whether the journal holds a Before already: a start that was broken off has stored it.
func (s *Store) knowsBefore(ctx context.Context) (bool, error) {
	var n int
	err := s.w.conn.QueryRowContext(ctx, "SELECT count(*) FROM store_meta WHERE name = ?", metaBefore).Scan(&n)
	return n > 0, classify(err)
}

func (s *Store) allThere(list []reading) bool {
	for _, r := range list {
		if !r.there {
			return false
		}
	}
	return true
}

// record commits the end and its flags, with before where it is not nil.
func (s *Store) record(fresh bool, flags int64, before *store.Before) error {
	if err := s.w.begin("BEGIN IMMEDIATE"); err != nil {
		return classify(err)
	}
	next := raised(s.end)
	t := &scope{l: s.w}
	err := s.recordIn(t, fresh, flags, next, before)
	if err = errors.Join(err, t.end()); err != nil {
		return errors.Join(classify(err), s.undo())
	}
	if err := s.w.exec("COMMIT"); err != nil {
		return classify(err)
	}
	s.flags = flags
	s.counted(next)
	s.end = next
	return nil
}

func (s *Store) recordIn(t store.Tx, fresh bool, flags int64, next store.End, before *store.Before) error {
	if before != nil && before.Kind != store.FirstGeneration {
		if before.Kind == store.WasRestored {
			if err := t.QueryRow("SELECT value FROM store_meta WHERE name = ?", metaRestored).Scan(&before.Why); err != nil {
				return fmt.Errorf("why it was restored: %w", err)
			}
		}
		text, err := json.Marshal(before)
		if err != nil {
			return err
		}
		if _, err := t.Exec(store.PutMeta, metaBefore, text); err != nil {
			return err
		}
	}
	if fresh {
		if _, err := t.Exec(`INSERT OR REPLACE INTO store_end (id, generation, sequence, head, note, flags, mac) VALUES (1, 0, 0, x'', x'', 0, x'')`); err != nil {
			return err
		}
	}
	_, err := t.Exec(updateEnd, s.endArgs(next, flags)...)
	return err
}

// Ended tells the marks of the journal at path, which the caller holds, that it is about to be removed, or that it was: done. lost,
// a reason, says that it is given up unread. A start finds no journal then and begins a new one.
func Ended(path string, paths []string, done bool, lost string) error {
	m := newMarks(paths, nil)
	defer func() { _ = m.close() }()
	list := m.read()
	last := found(list)
	if last.err != nil && !last.ok {
		return fmt.Errorf("mark: %w", last.err)
	}
	for _, r := range list {
		m.cur.turn = max(m.cur.turn, r.slot.turn)
	}
	beside, err := readGeneration(generationPath(path))
	if err != nil {
		return err
	}
	if !last.ok {
		last.slot.end.Generation = max(beside, 0)
	}
	m.mac = func([]byte) []byte { return make([]byte, crcAt-macAt) } // its key goes with the journal
	err = m.durably(func(c *slot) {
		turn := c.turn
		*c = last.slot
		c.turn, c.fold = turn, folding{}
		if c.flags |= flagEnding; done {
			c.flags |= flagEnded
		}
		if lost != "" {
			c.flags |= flagLost
			c.why = lost
		}
	})
	if err != nil || !done || beside < 0 {
		return err
	}
	return errors.Join(os.Remove(generationPath(path)), syncDir(filepath.Dir(path)))
}

// lookAtMark reads the mark beside the database at path, for a reader: it opens nothing for writing.
func lookAtMark(path string) (reading, error) {
	f, err := os.Open(store.MarkPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return reading{}, nil
	}
	if err != nil {
		return reading{}, fmt.Errorf("store: mark: %w", err)
	}
	defer f.Close()
	r := readMark(f)
	return r, r.err
}

// compareBeside judges the journal by a mark that was read before it, for a reader. Where another process owns it, that has judged
// already, and its mark moves on.
func (s *Store) compareBeside(ctx context.Context, q queryer, mark reading) error {
	if pid, running, err := Owner(s.opt.Path); err != nil || running && pid != os.Getpid() || s.opt.IgnoreMark {
		return err
	}
	e, err := s.evidence(ctx, q, mark)
	if err != nil {
		return err
	}
	e.keyless = true
	if err := judge(e).err(s.opt.Path, mark); err != nil {
		if now, e := lookAtMark(s.opt.Path); e == nil && string(now.raw) == string(mark.raw) {
			return err
		}
	}
	return nil
}
