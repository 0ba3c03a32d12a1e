package enrol

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

const (
	starts = 3  // of a terminal with a configuration that is not proven
	shorts = 10 // that were killed within seconds: a person may have done that, or the box
)

// activate makes a confirmed revision the one in use.
func (r *record) activate(rev Revision) {
	r.Revisions = append(slices.DeleteFunc(r.Revisions, func(o Revision) bool { return o.Number == rev.Number }), rev)
	r.Previous, r.Active, r.Proven, r.Starts, r.Waits, r.Rejected = r.Active, rev.Number, false, 0, false, nil
	r.Short, r.Begun, r.Ended, r.Gave = 0, "", "", 0
	for len(r.Revisions) > kept {
		i := slices.IndexFunc(r.Revisions, func(o Revision) bool { return o.Number != r.Active && o.Number != r.Previous })
		r.Revisions = slices.Delete(r.Revisions, i, i+1)
	}
}

// giveUp goes back to a revision, and notes why.
func (r *record) giveUp(now time.Time, to int64, what, why string) {
	e := Entry{What: what, Revision: r.Active, To: to}
	if what == Chosen {
		why = "a person has chosen revision " + strconv.FormatInt(to, 10)
	} else {
		e.Text = why
	}
	r.note(now, e)
	r.Rejected = &Rejected{Number: r.Active, Why: why}
	r.Refused, r.Gave = max(r.Refused, r.Active), r.Active
	r.Previous, r.Active, r.Proven, r.Starts, r.Waits = 0, to, true, 0, false
	r.Short, r.Begun, r.Ended = 0, "", ""
}

// RevisionOf returns a revision that is kept. ErrNone where nothing is enrolled.
func (b *Box) RevisionOf(number int64) (Revision, error) {
	r, err := b.read()
	if err != nil {
		return Revision{}, err
	}
	if r.Now == nil {
		return Revision{}, ErrNone
	}
	rev, ok := r.find(number)
	if !ok {
		return Revision{}, fmt.Errorf("enrol: revision %d is not kept", number)
	}
	return rev, nil
}

// Rollback makes an earlier revision the one in use, 0 = the one before. It returns its number. A
// person has chosen it: it needs no proof, and what it replaces is not fetched again.
func (b *Box) Rollback(to int64) (number int64, err error) {
	err = b.change(func(r *record) error {
		if r.Now == nil {
			return ErrNone
		}
		if number = to; to == 0 {
			number = r.Previous
		}
		if number == 0 {
			return fmt.Errorf("enrol: there is no revision before %d", r.Active)
		}
		if _, ok := r.find(number); !ok {
			return fmt.Errorf("enrol: revision %d is not kept", number)
		}
		if number == r.Active {
			return errSame
		}
		r.giveUp(b.now(), number, Chosen, "")
		return nil
	})
	return number, err
}

// Started notes a start with a configuration that is not proven, in a boot of the box. It returns the number of
// the configuration that it has given up, 0 = none, and why: too many starts have ended without a proof.
// One that power has ended within seconds says nothing of a configuration, and is not counted.
func (b *Box) Started(boot string) (gaveUp int64, why string, err error) {
	if r, err := b.read(); err == nil && r.Now != nil && (r.Proven || r.Waits) {
		return 0, "", nil // without the lock: somebody may be at work with a new one
	}
	err = b.change(func(r *record) error {
		if r.Now == nil {
			return ErrNone
		}
		if r.Proven {
			return errSame
		}
		if r.Begun == boot {
			r.Short++
		}
		r.Begun = boot
		if r.Previous == 0 {
			return nil
		}
		switch {
		case r.Starts >= starts && r.Ended != "":
			why = fmt.Sprintf("%d starts with it ended before the terminal was ready, the last one so: %s", r.Starts, r.Ended)
		case r.Starts >= starts:
			why = fmt.Sprintf("%d starts with it ended before the terminal was ready", r.Starts)
		case r.Short >= shorts:
			why = fmt.Sprintf("the terminal was killed or crashed within seconds in each of %d starts with it", r.Short)
		default:
			return nil
		}
		gaveUp = r.Active
		r.giveUp(b.now(), r.Previous, GivenUp, why)
		return nil
	})
	return gaveUp, why, err
}

// Lasted counts the start that runs: it has lasted so long that its end will say something of its configuration, whatever ends it.
func (b *Box) Lasted(why string) error { return b.counted(true, why) }

// Ended says that the start that runs ends by itself. failed: for a fault, which counts; else for a person or another configuration.
func (b *Box) Ended(failed bool, why string) error { return b.counted(failed, why) }

// Excuse says that what keeps the start that runs from being ready is not its configuration's doing, as far as is known: where it ends
// before it has Lasted, that says nothing.
func (b *Box) Excuse() error {
	if r, err := b.read(); err != nil || r.Begun == "" || r.Begun == excused || r.Proven {
		return err
	}
	return b.change(func(r *record) error {
		if r.Begun == "" || r.Begun == excused || r.Proven {
			return errSame
		}
		r.Begun, r.Short = excused, 0
		return nil
	})
}

// excused is in the place of the boot of a start that counts no more where it is killed.
const excused = "-"

func (b *Box) counted(counts bool, why string) error {
	if r, err := b.read(); err != nil || r.Begun == "" || r.Proven {
		return err
	}
	return b.change(func(r *record) error {
		if r.Begun == "" || r.Proven {
			return errSame
		}
		if r.Begun, r.Short = "", 0; counts {
			r.Starts, r.Ended = r.Starts+1, why[:min(len(why), longestText)]
		}
		return nil
	})
}

// Prove notes that a revision of an enrolment has made the terminal ready. Of another one than that in use it is not said.
func (b *Box) Prove(id string, number int64) error {
	return b.change(func(r *record) error {
		if !r.inUse(id, number) || r.Proven || r.Waits {
			return errSame
		}
		r.Proven, r.Starts, r.Before = true, 0, nil
		r.Short, r.Begun, r.Ended = 0, "", ""
		return nil
	})
}

// GiveUp goes back from a revision that has not made the terminal ready to the one before it, and keeps why. It
// returns whether it did: a revision that is proven, or not in use, or the first, stays.
func (b *Box) GiveUp(id string, number int64, why string) (did bool, err error) {
	err = b.change(func(r *record) error {
		if did = r.inUse(id, number) && !r.Proven && !r.Waits && r.Previous != 0; !did {
			return errSame
		}
		r.giveUp(b.now(), r.Previous, GivenUp, why)
		return nil
	})
	return did, err
}

// inUse returns whether a revision is that of the enrolment that is chosen: each enrolment counts from 1.
func (r *record) inUse(id string, number int64) bool {
	return r.Now != nil && r.Now.ID == id && r.Active == number
}

// stamp is a moment as it is kept.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
