package main

import (
	"context"
	"log/slog"
	"time"

	"posagent/agent"
	"posagent/device"
	"posagent/store"
)

func journalCommands() []command {
	return append([]command{backupCommand(), restoreCommand()}, keeperCommands()...)
}

// beginGeneration counts the start, and holds what is open in a journal that was put back from an earlier time. over counts the end:
// a copy made while this ran is old from then on.
func beginGeneration(ctx context.Context, db *store.Store, log *slog.Logger) (over func(), err error) {
	old, err := agent.Recover(ctx, db, time.Now, device.BootTime, log)
	if err != nil {
		return nil, err
	}
	if old.Why != "" {
		log.Warn("the journal was put back from an earlier time: what is open in it is held (posagent status)",
			"why", old.Why, "sales", old.Sales, "operations", old.Ops)
	}
	return func() {
		if err := db.Advance(context.WithoutCancel(ctx)); err != nil {
			log.Warn("generation not counted", "err", err)
		}
	}, nil
}
