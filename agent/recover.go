package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/counter/printqueue"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/agent/records/audit"
	"posagent/agent/records/deletedrows"
	"posagent/store"
)

// Recovered is what Recover set aside.
type Recovered struct {
	Why        string // "" = the journal goes on from where it ended
	Sales, Ops int
}

// Recover begins the journal's next generation. Where the journal was put back from an earlier time, everything open in it is set aside
// first, for a person to decide: nothing of it is sent before. Call it before anything runs; broken off, the next call
// does the rest. boot is CLOCK_BOOTTIME.
func Recover(ctx context.Context, db store.Journal, now func() time.Time, boot func() time.Duration, log *slog.Logger) (r Recovered, err error) {
	before, err := db.Before(ctx)
	if err != nil {
		return r, fmt.Errorf("judge the journal's age: %w", err)
	}
	if before.Kind != store.WasReset {
		r.Why = before.Why
	}
	generation, err := db.Generation(ctx)
	if err != nil {
		return r, fmt.Errorf("judge the journal's age: %w", err)
	}
	if !before.Nothing() {
		held, actor := before.Why, audit.Self("start")
		if a := audit.Of(ctx); a.Kind == audit.Person {
			actor = a
		}
		n := deletedrows.Unpack(before.End.Note)
		past := journal.Past{Seen: journal.Numbers{Receipt: n.Receipt, Trace: n.Trace, Batch: n.Batch}, Known: before.Known}
		err := db.Read(ctx, func(r store.Reader) (err error) { past.LastMS, err = outbox.LastKept(r); return err })
		if err != nil {
			return r, fmt.Errorf("judge the journal's age: %w", err)
		}
		if before.Kind != store.WasReset {
			if err := keepLost(ctx, db, before, generation, now()); err != nil {
				return r, err
			}
		}
		box := outbox.NewOutbox(outbox.Options{DB: db, Now: now, Boot: boot})
		if r.Ops, err = box.HoldRestored(ctx, held); err != nil {
			return r, err
		}
		err = db.Write(ctx, func(tx store.Tx) (err error) {
			if r.Sales, err = journal.SetAside(tx, db, held, now()); err != nil {
				return err
			}
			if err := printqueue.Forget(tx); err != nil {
				return err
			}
			if before.Kind != store.WasReset {
				err := errors.Join(journal.GoOn(tx, db, past, now()), journal.KeepLast(tx), gateway.SkipNumbers(tx, n.Operations.Highest))
				if err != nil {
					return err
				}
			}
			text := fmt.Sprintf("%s; %d sale(s) and %d operation(s) are held", before.Why, r.Sales, r.Ops)
			if e := before.End; e.Generation > 0 {
				text = fmt.Sprintf("after generation %d, commit %d, audit head %x: %s", e.Generation, e.Sequence, e.Head[:8], text)
			}
			return audit.AppendAs(tx, now(), actor, audit.Deed{Deed: DeedPast, Detail: text})
		})
		if err != nil {
			return r, err
		}
	}
	if err := db.Advance(ctx); err != nil { // a full disk must not keep what is open from being finished
		log.Warn("what was put back is not forgotten yet", "err", err)
	}
	return r, nil
}

// keepLost keeps that the journal took another's place, once: it is asked before anything of it is held, and what it says of the journals
// before is lost with that.
func keepLost(ctx context.Context, db store.DB, before store.Before, generation int64, now time.Time) error {
	return db.Write(ctx, func(tx store.Tx) error {
		if was, ok, err := store.LostIn(tx); err != nil || ok && was.Generation == generation {
			return err
		}
		run, err := outbox.Running(tx)
		if err != nil {
			return err
		}
		ageless, err := outbox.Ageless(tx)
		if err != nil {
			return err
		}
		return store.KeepLost(tx, store.Lost{Before: before, Generation: generation, AtMS: now.UnixMilli(), RunMS: max(run, 1), Ageless: ageless})
	})
}
