package agent

import (
	"context"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/store"
)

// widenEvery is between two looks whether a true time was heard.
const widenEvery = 10 * time.Second

// widen lets the span of numbers that a journal before this one may have given be as long as the first true time says. It ends then, and at
// once where no span rests on the clock of the start.
func (a *Agent) widen(ctx context.Context) {
	for a.o.Trusted != nil {
		assumed, more := false, int64(0)
		err := a.o.DB.Read(ctx, func(r store.Reader) (err error) { assumed, err = journal.Assumed(r); return err })
		at, heard := a.o.Trusted()
		if err == nil && assumed && heard {
			err = a.o.DB.Write(ctx, func(tx store.Tx) (err error) { more, err = journal.Widen(tx, at); return err })
		}
		switch {
		case err == nil && (heard || !assumed):
			if more > 0 {
				a.o.Log.Warn("the clock was behind when the journal was put back: more receipt and trace numbers may have been given before", "more", more)
			}
			return
		case err != nil && ctx.Err() == nil:
			a.o.Log.Warn("the lost numbers are not compared with the true time yet", "err", err)
		}
		t := time.NewTimer(widenEvery)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
	}
}
