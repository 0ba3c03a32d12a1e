package main

import (
	"context"
	"fmt"
	"time"

	"posagent/agent"
	"posagent/agent/records/audit"
	"posagent/device"
	"posagent/store"
)

func rotateCommand() command {
	return command{
		name: "rotate-key", short: "give the box a new key, and wrap everything sealed in the journal under it",
		long: "Needs the terminal stopped. Until every data key is wrapped anew both keys are there; what a kill or a power cut breaks off the next\n" +
			"start ends. The serial number that the terminal tells a register is made of the key, and changes with it.",
		json:     []string{"posagent.rotate-key/1"},
		examples: []string{"posagent config rotate-key"},
		run:      runRotate,
	}
}

// rotatedView is what a change of the key came to (posagent.rotate-key/1).
type rotatedView struct {
	Schema string `json:"schema"`
	Key    string `json:"key"` // id of the new one
}

func runRotate(ctx context.Context, c *call) error {
	say := progress(c)
	id, err := rotateKey(ctx, c, func(step string, done, of int) { say(step, int64(done), int64(of)) })
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, rotatedView{"posagent.rotate-key/1", id})
	}
	fmt.Fprintf(c.out, "the device key is %s now\n", id)
	return nil
}

// rotateKey changes the device key of a stopped terminal; one that was broken off is ended, and no other begun.
func rotateKey(ctx context.Context, c *call, said func(step string, done, of int)) (id string, err error) {
	if _, err := journalKeys(c); err != nil {
		return "", err
	}
	release, err := fileOf(c).hold(ctx) // the running terminal would not know the new key
	if err != nil {
		return "", storeError(err)
	}
	keys, err := device.NextKeys(keyDir(c))
	if err != nil {
		err = fail(exitDamaged, "%v", err)
	}
	if e := release(); err == nil && e != nil {
		err = storeError(e)
	}
	if err != nil {
		return "", err
	}
	said("new key made", 1, 1)
	db, err := openJournal(ctx, c, keys, logger(c), "")
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.Write(asPerson(ctx), func(tx store.Tx) error {
		return audit.Append(tx, time.Now(), audit.Deed{Deed: agent.DeedRotate, Subject: keys.ID()})
	})
	if err != nil {
		return "", storeError(err)
	}
	return keys.ID(), endRotation(ctx, c, db, keys, said)
}
