package agent

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"posagent/agent/audit"
	"posagent/agent/checkout/drive"
	"posagent/agent/outbox"
	"posagent/store"
)

// Recovered is what Recover set aside.
type Recovered struct {
	Why        string // "" = the journal goes on from where it ended
	Sales, Ops int
}

// Recover begins the journal's next generation. Where the journal was put back from an earlier time, everything open in it is set aside
// first, for a person to decide (MONEY C.3): nothing of it is sent before. Call it before anything runs; broken off, the next call
// does the rest. boot is CLOCK_BOOTTIME.
func Recover(ctx context.Context, db *store.Store, now func() time.Time, boot func() time.Duration, log *slog.Logger) (r Recovered, err error) {
	if r.Why, err = db.Past(ctx); err != nil {
		return r, fmt.Errorf("judge the journal's age: %w", err)
	}
	if r.Why != "" {
		box := outbox.NewOutbox(outbox.Options{DB: db, Now: now, Boot: boot})
		if r.Ops, err = box.HoldRestored(ctx, r.Why); err != nil {
			return r, err
		}
		err = db.Write(ctx, func(tx store.Tx) (err error) {
			if r.Sales, err = drive.SetAside(tx, r.Why, now()); err != nil {
				return err
			}
			return audit.AppendAs(tx, now(), audit.Self("start"), audit.Deed{
				Deed: DeedPast, Detail: fmt.Sprintf("%s; %d sale(s) and %d operation(s) are held", r.Why, r.Sales, r.Ops),
			})
		})
		if err != nil {
			return r, err
		}
	}
	if err := db.Advance(ctx); err != nil { // a full disk must not keep what is open from being finished
		log.Warn("generation not counted", "err", err)
	}
	return r, nil
}
