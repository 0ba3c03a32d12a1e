package main

import (
	"context"
	"path/filepath"

	"posagent/device"
	"posagent/store"
)

// endRotation ends a change of the device key, where one was begun: every data key is wrapped under the new key, then the old one is
// forgotten. Broken off at any point it is done again by the next start; until then both keys are there. said is told of each step.
func endRotation(ctx context.Context, c *call, db store.Journal, keys *device.Keys, said func(step string, done, of int)) error {
	next, changing := keys.Changing()
	if !changing {
		return nil
	}
	if err := db.Rewrap(ctx, next, func(done, of int) { said("keys wrapped anew", done, of) }); err != nil {
		return storeError(err)
	}
	secret, err := db.Secret(ctx, callerSecret, secretFile(c))
	if err == nil {
		err = store.KeepSecret(secretFile(c), next, secret)
	}
	if err != nil {
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

// callerSecret names the secret that makes our keys of the callers' (store.Secret).
const callerSecret = "callers"

// secretFile is where it is kept beside the device key: it outlives the journal.
func secretFile(c *call) string { return filepath.Join(keyDir(c), "callers.secret") }
