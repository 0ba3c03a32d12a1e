package main

import (
	"context"
	"fmt"
	"path/filepath"

	"posagent/agent"
	"posagent/device"
	"posagent/store"
)

// endRotation ends a change of the device key, where one was begun: every data key is wrapped under the new key, then the old one is
// forgotten. Broken off at any point it is done again by the next start; until then both keys are there. said is told of each step.
func endRotation(ctx context.Context, c *call, db *store.Store, keys *device.Keys, said func(step string, done, of int)) error {
	next, changing := keys.Changing()
	if !changing {
		return nil
	}
	if err := db.Rewrap(ctx, next, func(done, of int) { said("keys wrapped anew", done, of) }); err != nil {
		return storeError(err)
	}
	said("all keys wrapped anew", 1, 1)
	if err := device.ForgetOld(keyDir(c)); err != nil {
		return fail(exitFailed, "%v (both keys are there; posagent config rotate-key again)", err)
	}
	said("old key forgotten", 1, 1)
	return nil
}

// keyDir is where the device key is.
func keyDir(c *call) string { return filepath.Join(c.stateDir(), "keys") }

func rotateCommand() command {
	return command{
		name: "rotate-key", short: "give the box a new key, and wrap everything sealed in the journal under it",
		long: "Needs the terminal stopped. Until every data key is wrapped anew both keys are there; what a kill or a power cut breaks off the next\n" +
			"start ends. The serial number that the terminal tells a register is made of the key, and changes with it.",
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
	release, err := store.Hold(ctx, agentDB(c)) // the running terminal would not know the new key
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
	db, err := store.Open(ctx, store.Options{Path: agentDB(c), Steps: agent.Schema(), Wrapper: keys, Log: logger(c)})
	if err != nil {
		return "", storeError(err)
	}
	defer db.Close()
	return keys.ID(), endRotation(ctx, c, db, keys, said)
}

func configCommand() command {
	return command{
		name: "config", short: "the box's own settings", examples: []string{"posagent config rotate-key"},
		sub: []command{rotateCommand()},
	}
}
