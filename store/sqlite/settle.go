package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posagent/device/file"
	"posagent/store"
	"posagent/store/marks"
)

// sighting is what a start has found out about the journal and its marks.
type sighting struct {
	marks   []marks.Reading
	mark    marks.Reading // the newest of them
	turn    uint64
	verdict marks.Verdict
	marks.Evidence
}

// lookForMarks reads the marks, and judges a journal that is not there before one is made. It
// answers *CutError.
func (s *Store) lookForMarks(seen *sighting) error {
	if len(s.opt.Marks) == 0 {
		if s.opt.Accept != "" {
			return store.ErrNotCut
		}
		return nil
	}
	s.marks = marks.NewFiles(s.opt.Marks, s.opt.OpenMark)
	s.marks.MAC = s.markMAC
	seen.marks = s.marks.Read()
	seen.mark = marks.Newest(seen.marks)
	for _, r := range seen.marks {
		seen.turn = max(seen.turn, r.Slot.Turn)
	}
	if seen.mark.Err != nil {
		s.log.Warn("a mark of the journal cannot be read", "err", seen.mark.Err)
		if seen.marks[0].Err != nil && !seen.mark.OK {
			return fmt.Errorf("mark %s: %w", s.opt.Marks[0], seen.marks[0].Err)
		}
	}
	v, err := missing(s.opt.Path, s.opt.Outlived, seen.mark)
	if err == nil {
		err = v.Err(s.opt.Path, seen.mark)
	}
	seen.verdict = v
	return err
}

// compare judges the journal by its marks before anything in it is changed. It answers *CutError,
// or ErrNotCut.
func (s *Store) compare(ctx context.Context, seen *sighting) error {
	if s.marks == nil {
		return nil
	}
	if there, err := hasTable(ctx, s.w.conn, "store_meta"); err != nil {
		return classify(err)
	} else if there {
		t := &scope{l: s.w}
		key, err := store.ReadMACKey(t, s.opt.Wrapper)
		if err = errors.Join(notNoRows(err), t.end()); err != nil {
			return classify(err)
		}
		s.mac = key
	}
	afresh := seen.verdict.Afresh
	e, err := s.evidence(ctx, s.w.conn, seen.mark)
	if err != nil {
		return err
	}
	seen.Evidence, seen.verdict = e, marks.Judge(e)
	seen.verdict.Afresh = seen.verdict.Afresh || afresh
	cut := seen.verdict.Err(s.opt.Path, seen.mark)
	switch {
	case s.opt.Accept == "":
		return cut
	case cut == nil:
		return store.ErrNotCut
	}
	return checkFile(ctx, s.w.conn, "quick_check")
}

// leaveAlone closes the writer's connection without folding the log into the file: another is the
// last to go, and it only reads.
func (s *Store) leaveAlone(ctx context.Context) {
	if r, err := s.openReader(context.WithoutCancel(ctx)); err == nil {
		defer func() { _ = r.close() }()
	}
	_ = s.w.close()
	s.w = nil
}

// settle opens the journal's key, and begins or goes on with the record of its end. What is new in
// it is durable before a mark claims it, and a mark before the journal claims that.
func (s *Store) settle(ctx context.Context, seen sighting) (err error) {
	if s.mac, err = openMACKey(s.w, s.opt.Wrapper); err != nil {
		return err
	}
	if s.marks == nil { // a copy, or a file without marks; a record that is there goes on
		row, err := s.readEnd(ctx, s.w.conn)
		if row.OK {
			s.end, s.flags = row.End, row.Flags
		}
		return err
	}
	row, mark, v := seen.Row, seen.mark.Slot, seen.verdict
	s.box = s.boxNow(seen)
	defer func() {
		if err != nil || s.box == nil {
			return
		}
		if err := s.record(false, s.flags, nil); err != nil { // a full disk keeps no terminal from starting
			s.log.Warn("the marks of this box are not kept: a copy of the journal on another one would not be noticed", "err", err)
		}
	}()
	s.end, s.flags = row.End, row.Flags
	before, fresh := s.before(seen), !row.There
	switch {
	case v.Cut != "":
		s.end.Generation = max(row.End.Generation, mark.End.Generation, seen.Old, seen.Beside) + 1
		s.end.Sequence = max(row.End.Sequence, mark.End.Sequence)
		s.flags = marks.RowRestored
	case fresh:
		s.end = store.End{Generation: max(mark.End.Generation, seen.Old, seen.Beside, 0) + 1}
		s.flags = 0
		if before.Kind != store.FirstGeneration {
			s.flags = marks.RowRestored
		}
	}
	s.marks.Last = marks.Slot{Turn: seen.turn, End: s.end}
	known := true
	if before.Kind != store.FirstGeneration {
		if known, err = s.knowsBefore(ctx); err != nil {
			return err
		}
	}
	if fresh || v.Cut != "" || !known {
		if err := s.record(fresh, s.flags, &before); err != nil {
			return err
		}
	}
	if s.flags == marks.RowMarked && seen.mark.OK && mark.Flags == 0 && mark.Fold == (marks.Folding{}) && s.allThere(seen.marks) {
		s.marks.Last.Why = mark.Why
		return nil
	}
	if err := s.marks.Durably(func(c *marks.Slot) { *c = marks.Slot{Turn: c.Turn, End: s.end} }); err != nil {
		s.log.Error("the mark cannot be written: a journal that is cut would not be noticed", "err", err)
		return nil
	}
	s.warnOfMarks()
	if s.flags != marks.RowMarked {
		if err := s.record(false, marks.RowMarked, nil); err != nil {
			return err
		}
	}
	if seen.Beside >= 0 { // the mark has taken its place
		return errors.Join(removeAll(generationPath(s.opt.Path)), file.SyncDir(filepath.Dir(s.opt.Path)))
	}
	return nil
}

// before is what the journal must remember of the time before its new generation; none where it
// goes on.
func (s *Store) before(seen sighting) store.Before {
	b := s.kindBefore(seen)
	if b.Kind != store.FirstGeneration {
		end := seen.mark.Slot.End.Sequence > 0 // else a verb has made the mark, in the place of one that was torn or gone
		b.Known = seen.mark.OK && end && (seen.Ours || seen.verdict.Afresh) && seen.Other == ""
	}
	return b
}

func (s *Store) kindBefore(seen sighting) store.Before {
	mark, v := seen.mark.Slot, seen.verdict
	switch {
	case v.Cut != "":
		return store.Before{Kind: store.WasAccepted, Why: fmt.Sprintf("the journal was cut (%s) and accepted: %s", v.Cut, s.opt.Accept), End: mark.End}
	case v.Afresh && mark.Flags&marks.Locked != 0:
		return store.Before{Kind: store.WasLocked, Why: "no key opened the journal, and another was begun: " + mark.Why, End: mark.End}
	case v.Afresh && mark.Flags&marks.Lost != 0:
		return store.Before{Kind: store.WasLost, Why: "the journal was lost and begun anew: " + mark.Why, End: mark.End}
	case v.Afresh:
		return store.Before{Kind: store.WasReset, Why: cmp.Or(mark.Why, "reset"), End: mark.End}
	case v.Adopt:
		return store.Before{Kind: store.WasRestored, End: mark.End}
	}
	return store.Before{}
}

// knowsBefore reports whether the journal holds a Before already: a start that was broken off has
// stored it.
func (s *Store) knowsBefore(ctx context.Context) (bool, error) {
	var n int
	err := s.w.conn.QueryRowContext(ctx, "SELECT count(*) FROM store_meta WHERE name = ?", metaBefore).Scan(&n)
	return n > 0, classify(err)
}

func (s *Store) allThere(list []marks.Reading) bool {
	for _, r := range list {
		if !r.There {
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
	s.flags, s.box = flags, nil
	s.counted(next)
	s.end = next
	return nil
}

func (s *Store) recordIn(t store.Tx, fresh bool, flags int64, next store.End, before *store.Before) error {
	if before != nil && before.Kind != store.FirstGeneration {
		if before.Kind == store.WasAccepted { // what is left of it has its secrets
			if err := store.SecretKnown(t); err != nil {
				return err
			}
		}
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
	if s.box != nil {
		text, err := json.Marshal(s.box)
		if err != nil {
			return err
		}
		if _, err := t.Exec(store.PutMeta, metaBox, text); err != nil {
			return err
		}
	}
	_, err := t.Exec(updateEnd, s.endArgs(next, flags)...)
	return err
}

// boxNow returns what the journal has to keep of its box, nil where it keeps that already. Of a box
// that it comes to, nothing of the one before stays.
func (s *Store) boxNow(seen sighting) marks.Box {
	if len(s.opt.Box) == 0 {
		return nil
	}
	was := seen.Box
	if v := seen.verdict; v.Cut != "" || v.Adopt || v.Afresh {
		was = nil
	}
	if now := was.Learn(s.opt.Box); !now.Same(seen.Box) {
		return now
	}
	return nil
}

// Ended tells the marks of the journal at path, which the caller holds, that it is about to be
// removed, or that it was: done. how is store.WasReset, or says with a reason, why, that it is given
// up unread: store.WasLost, store.WasLocked. The reason of a reset is "" or store.OfSandbox. A start finds no journal then and begins a new one.
func Ended(path string, paths []string, done bool, how store.Kind, why string) error {
	m := marks.NewFiles(paths, nil)
	defer func() { _ = m.Close() }()
	list := m.Read()
	last := marks.Newest(list)
	if last.Err != nil && !last.OK {
		return fmt.Errorf("mark: %w", last.Err)
	}
	for _, r := range list {
		m.Last.Turn = max(m.Last.Turn, r.Slot.Turn)
	}
	beside, err := readGeneration(generationPath(path))
	if err != nil {
		return err
	}
	if !last.OK {
		last.Slot.End.Generation = max(beside, 0)
	}
	m.MAC = func([]byte) []byte { return make([]byte, marks.MACBytes) } // its key goes with the journal
	err = m.Durably(func(c *marks.Slot) {
		turn := c.Turn
		*c = last.Slot
		again := c.Flags&marks.Ended != 0 // no journal was there since the last reset
		c.Turn, c.Fold = turn, marks.Folding{}
		if c.Flags |= marks.Ending; done {
			c.Flags |= marks.Ended
		}
		switch how {
		case store.WasLocked: // a program that does not know the kind takes it for lost
			c.Flags |= marks.Lost | marks.Locked
			c.Why = why
		case store.WasLost:
			c.Flags |= marks.Lost
			c.Why = why
		default:
			if !again {
				c.Why = why
			}
		}
	})
	if err != nil || !done || beside < 0 {
		return err
	}
	return errors.Join(os.Remove(generationPath(path)), file.SyncDir(filepath.Dir(path)))
}

// lookAtMarks reads the mark beside the database at path, and those of more, for a reader: it opens
// nothing for writing. Of more, the newest that can be read counts: another medium may be away.
func lookAtMarks(path string, more []string) (marks.Reading, error) {
	beside, err := lookAtMark(store.MarkPath(path))
	if err != nil {
		return beside, err
	}
	list := []marks.Reading{beside}
	for _, other := range more {
		if r, err := lookAtMark(other); err == nil && other != store.MarkPath(path) {
			list = append(list, r)
		}
	}
	return marks.Newest(list), nil
}

// lookAtMark reads the mark at path. It follows no link, and waits for no other program.
func lookAtMark(path string) (marks.Reading, error) {
	f, err := openBeside(path)
	if errors.Is(err, fs.ErrNotExist) {
		return marks.Reading{}, nil
	}
	if err != nil {
		return marks.Reading{}, fmt.Errorf("store: mark: %w", err)
	}
	defer f.Close()
	r := marks.ReadSlots(f)
	return r, r.Err
}

// compareBeside judges the journal by a mark that was read before it, for a reader. Where another
// process owns it, that has judged already, and its mark moves on.
func (s *Store) compareBeside(ctx context.Context, q queryer, mark marks.Reading) error {
	if pid, running, err := Owner(s.opt.Path); err != nil || running && pid != os.Getpid() || s.opt.IgnoreMark {
		return err
	}
	e, err := s.evidence(ctx, q, mark)
	if err != nil {
		return err
	}
	e.Keyless = true
	if err := marks.Judge(e).Err(s.opt.Path, mark); err != nil {
		if now, e := lookAtMarks(s.opt.Path, s.opt.Marks); e == nil && string(now.Raw) == string(mark.Raw) {
			return err
		}
	}
	return nil
}
